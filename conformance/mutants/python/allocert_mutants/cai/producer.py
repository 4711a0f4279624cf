"""A faithful producer: it knows which streams its data have work on, and joins them before it says one."""

import math

from . import device
from .device import LEGACY, PER_THREAD, Memory, Stream
from .layout import c_strides, is_contiguous, scattered, size_of, span


class Array:
    def __init__(self, memory, pointer, shape, strides, typestr, read_only=False, stream=None, mask=None, fields=()):
        self.memory, self.pointer, self.shape, self.strides = memory, pointer, shape, strides
        self.typestr, self.read_only, self.stream, self.mask, self.fields = typestr, read_only, stream, mask, fields

    @property
    def __cuda_array_interface__(self):
        return self.entries()

    def entries(self):
        said = {
            "shape": self.shape,
            "typestr": self.typestr,
            "data": (self.address(), self.read_only),
            "version": 3,
            "strides": self.said_strides(),
            "stream": self.said_stream(),
        }
        if self.mask is not None:
            said["mask"] = self.mask
        if self.fields:
            said["descr"] = [(name, of, shape) if shape else (name, of) for name, of, shape in self.fields]
        return said

    def address(self):
        return self.pointer if math.prod(self.shape) else 0

    def said_strides(self):
        return None if is_contiguous(self.shape, self.strides, size_of(self.typestr)) else self.strides

    def said_stream(self):
        pending = self.memory.pending
        if not pending:
            return None
        for other in pending[1:]:
            device.order(other.handle, pending[0].handle)
        return pending[0].handle

    def bytes(self):
        """The first byte and how many there are up to the last one."""
        low, high = span(self.shape, self.strides, size_of(self.typestr))
        return self.pointer + low, high - low

    def like(self, **changed):
        kept = {"shape": self.shape, "strides": self.strides, "typestr": self.typestr, "pointer": self.pointer}
        kept |= {"read_only": self.read_only, "stream": self.stream, **changed}
        return type(self)(self.memory, **kept)


class Producer:
    array_class = Array

    def __init__(self):
        self.own = Stream()

    def stream(self, kind):
        return Stream({"legacy": LEGACY, "per_thread": PER_THREAD}.get(kind))

    def array(self, spec):
        typestr = f"|V{len(spec.data) // max(math.prod(spec.shape), 1)}" if spec.fields else spec.typestr
        size = size_of(typestr)
        strides = c_strides(spec.shape, size)
        if spec.layout == "fortran":
            strides = tuple(reversed(c_strides(tuple(reversed(spec.shape)), size)))
        memory = Memory(spec.memory, self.bytes_needed(len(spec.data)))
        device.write(memory.base, scattered(spec.data, spec.shape, strides, size)[: memory.size_bytes], self.own)
        named = {"read_only": spec.read_only, "stream": spec.stream, "mask": spec.mask, "fields": spec.fields}
        return self.array_class(memory, memory.base, spec.shape, strides, typestr, **named)

    def bytes_needed(self, size_bytes):
        return size_bytes

    def view(self, array, way, value):
        size = size_of(array.typestr)
        if way == "slice":
            return _sliced(array, value)
        if way == "transpose":
            return array.like(shape=array.shape[::-1], strides=array.strides[::-1])
        if way == "broadcast_to":
            more = len(value) - len(array.shape)
            shape, strides = (1,) * more + array.shape, (0,) * more + array.strides
            kept = zip(shape, value, strides)
            return array.like(shape=value, strides=tuple(s if have == want else 0 for have, want, s in kept))
        if way == "reshape" and is_contiguous(array.shape, array.strides, size):
            return array.like(shape=value, strides=c_strides(value, size))
        if way == "byteswapped":
            return array.like(typestr=array.typestr.translate(str.maketrans("<>", "><")))
        if way == "dtype" and size_of(value) == size:
            return array.like(typestr=value)
        raise NotImplementedError(f"no such {way}")

    def write(self, array, stream, byte):
        stream = stream or array.stream or self.own
        pointer, size_bytes = array.bytes()
        device.fill(pointer, byte, size_bytes, stream.handle)
        array.memory.works(stream)

    def read(self, array, stream):
        stream = stream or array.stream or self.own
        pointer, size_bytes = array.bytes()
        array.memory.target = device.read(pointer, size_bytes, stream.handle)
        array.memory.works(stream)

    def plain_object(self, kind):
        return [1.0, 2.0]


def _sliced(array, index):
    pointer, shape, strides = array.pointer, [], []
    axes = iter(zip(array.shape, array.strides))
    for one in index:
        if one is None:
            shape.append(1)
            strides.append(0)
            continue
        extent, stride = next(axes)
        if isinstance(one, int):
            pointer += (one % extent) * stride
            continue
        start, stop, step = one.indices(extent)
        pointer += start * stride
        shape.append(len(range(start, stop, step)))
        strides.append(stride * step)
    for extent, stride in axes:
        shape.append(extent)
        strides.append(stride)
    return array.like(pointer=pointer, shape=tuple(shape), strides=tuple(strides))
