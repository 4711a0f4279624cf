"""A library of arrays that keeps to the text. Where an array's elements lie is NumPy's business: each array has a shadow on the
host, whose views are its views."""

import ctypes

import numpy
from numpy.lib.array_utils import byte_bounds

from .driver import LEGACY, PER_THREAD, Memory, Stream, Work, call


class Array:
    """Its parts are methods, so that a bad library is one that gets a part wrong."""

    def __init__(self, memory, shadow, origin, stream=None, read_only=False, mask=None):
        #: `origin` is the address of the shadow's memory: as far into it, as far into the device's.
        self.memory, self.shadow, self.origin = memory, shadow, origin
        self.stream, self.read_only, self.mask = stream, read_only, mask
        #: The stream that was exported last lives as long as this does.
        self.named = None

    @property
    def __cuda_array_interface__(self):
        return self.interface()

    def interface(self):
        entries = {
            "shape": self.shape(),
            "typestr": self.typestr(),
            "data": self.data(),
            "version": self.version(),
            "strides": self.strides(),
            "stream": self.exported(),
        }
        if self.shadow.dtype.fields:
            entries["descr"] = self.descr()
        if self.mask is not None:
            entries["mask"] = self.masked()
        return entries

    def shape(self):
        return self.shadow.shape

    def typestr(self):
        return self.shadow.dtype.str

    def data(self):
        return self.pointer(), self.read_only

    def pointer(self):
        return self.address() if self.shadow.size else 0

    def address(self):
        return self.memory.base + self.shadow.__array_interface__["data"][0] - self.origin

    def version(self):
        return 3

    def strides(self):
        return None if self.shadow.flags.c_contiguous else self.shadow.strides

    def descr(self):
        return self.shadow.dtype.descr

    def masked(self):
        return self.mask

    # -- order
    # -------------------------------------------------------------------------------------------------------

    def exported(self):
        """The stream to wait for: the one that all pending work is in, or one that waits for all of it."""
        work = self.pending()
        if not work:
            return None
        streams = {one.stream.handle: one.stream for one in work}
        if len(streams) == 1 and all(one.named_here() for one in work):
            (self.named,) = streams.values()
        else:
            self.named = self.joined(work)
        return self.named.handle

    def pending(self):
        return self.memory.work

    def joined(self, work):
        stream = Stream()
        for one in work:
            stream.wait(one.event)
        return stream

    def enqueue(self, stream, writes, perform):
        """Puts work into the stream, behind all that it must not overtake."""
        low, high = self.span()
        stream = stream or self.default()
        for one in self.memory.work:
            if one.conflicts(low, high, writes) and not (one.stream is stream and one.named_here()):
                stream.wait(one.event)
        perform(low, high - low, ctypes.c_void_p(stream.handle))
        self.note(Work(stream, low, high, writes))

    def default(self):
        return self.stream or Stream(LEGACY)

    def note(self, work):
        self.memory.work.append(work)

    def span(self):
        low, high = byte_bounds(self.shadow)
        if high - low != self.shadow.nbytes:
            raise NotImplementedError("work on arrays with gaps")
        return self.memory.base + low - self.origin, self.memory.base + high - self.origin


class Producer:
    """What the suite asks of a library. `made` is its class of arrays."""

    made = Array

    def stream(self, kind):
        return Stream(
            {"new": None, "legacy": LEGACY, "per_thread": PER_THREAD, "default": LEGACY}[kind]
        )

    def array(self, spec):
        return self.placed(_filled(spec), spec.memory, spec.stream, spec.read_only, spec.mask)

    def placed(self, host, memory="device", *more):
        """An array with the elements of this one."""
        memory = Memory(memory, host.nbytes)
        if host.nbytes:
            source = ctypes.c_void_p(host.ctypes.data)
            call(
                "cuMemcpyHtoD_v2",
                ctypes.c_uint64(memory.base),
                source,
                ctypes.c_size_t(host.nbytes),
            )
        return self.made(memory, host, host.ctypes.data, *more)

    def view(self, array, way, value):
        shadow = _WAYS[way](array.shadow, value)
        if shadow.size and not numpy.may_share_memory(shadow, array.shadow):
            raise NotImplementedError("a reshape that needs a copy")
        mask = array.mask
        if mask is not None and way not in ("byteswapped", "dtype"):
            mask = self.seen(
                mask, _WAYS[way](numpy.broadcast_to(mask.shadow, array.shadow.shape), value)
            )
        return self.seen(array, shadow, mask)

    def seen(self, array, shadow, mask=None):
        return type(array)(array.memory, shadow, array.origin, array.stream, array.read_only, mask)

    def write(self, array, stream, byte):
        def fill(start, size, handle):
            byte_, size_ = ctypes.c_ubyte(byte), ctypes.c_size_t(size)
            call("cuMemsetD8Async", ctypes.c_uint64(start), byte_, size_, handle)

        array.enqueue(stream, True, fill)

    def read(self, array, stream):
        def copy(start, size, handle):
            scratch = Memory("pinned", size)
            array.memory.scratch.append(scratch)
            target, source = ctypes.c_uint64(scratch.base), ctypes.c_uint64(start)
            call("cuMemcpyDtoDAsync_v2", target, source, ctypes.c_size_t(size), handle)

        array.enqueue(stream, False, copy)

    def plain_object(self, kind):
        return numpy.zeros(4, numpy.float32)


_WAYS = {
    "slice": lambda shadow, value: shadow[value],
    "transpose": lambda shadow, _value: shadow.T,
    "broadcast_to": numpy.broadcast_to,
    "reshape": lambda shadow, value: shadow.reshape(value),
    "byteswapped": lambda shadow, _value: shadow.view(shadow.dtype.newbyteorder()),
    "dtype": lambda shadow, value: shadow.view(numpy.dtype(value)),
}


def _filled(spec):
    dtype = numpy.dtype(spec.typestr)
    if spec.fields:
        dtype = numpy.dtype(
            [
                (name, typestr, shape) if shape else (name, typestr)
                for name, typestr, shape in spec.fields
            ]
        )
    order = "F" if spec.layout == "fortran" else "C"
    return numpy.array(numpy.frombuffer(spec.data, dtype).reshape(spec.shape), order=order)


def library(made):
    """The library whose arrays are of this class."""
    return type(
        made.__name__,
        (Producer,),
        {"made": made, "__doc__": made.__doc__, "__module__": made.__module__},
    )
