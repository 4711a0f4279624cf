"""A library of arrays that conforms.

Each array has a NumPy array on the host of the same layout. NumPy computes where the elements of an
array and of its views lie.
"""

import ctypes
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy
from numpy.lib.array_utils import byte_bounds

from allocert_mutants.cuda_driver import LEGACY, PER_THREAD, Memory, Stream, Work, call, upload

#: A value in the dictionary. Mutants return values that the text does not allow.
Entry: TypeAlias = Any
HostArray: TypeAlias = "numpy.ndarray[Any, Any]"


class Array:
    """An array whose dictionary is made by small methods. A mutant overrides one of them."""

    def __init__(
        self,
        memory: Memory,
        host_array: HostArray,
        host_address: int,
        stream: Stream | None = None,
        read_only: bool = False,
        mask: "Array | None" = None,
    ) -> None:
        self.memory, self.host_array = memory, host_array
        #: Where the memory of `host_array` begins, as `memory.base` is where `memory` does.
        self.host_address = host_address
        self.stream, self.read_only, self.mask = stream, read_only, mask
        #: All streams that were exported. They live as long as the array.
        self.exported_streams: list[Stream] = []

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.interface()

    def interface(self) -> Any:
        entries = {
            "shape": self.shape(),
            "typestr": self.typestr(),
            "data": self.data(),
            "version": self.version(),
            "strides": self.strides(),
            "stream": self.stream_entry(),
        }
        if self.host_array.dtype.fields:
            entries["descr"] = self.descr()
        if self.mask is not None:
            entries["mask"] = self.mask_entry(self.mask)
        return entries

    def shape(self) -> Entry:
        return self.host_array.shape

    def typestr(self) -> Entry:
        return self.host_array.dtype.str

    def data(self) -> Entry:
        return self.pointer(), self.read_only

    def pointer(self) -> int:
        return self.address() if self.host_array.size else 0

    def address(self) -> int:
        offset: int = self.host_array.__array_interface__["data"][0] - self.host_address
        return self.memory.base + offset

    def version(self) -> Entry:
        return 3

    def strides(self) -> Entry:
        return None if self.host_array.flags.c_contiguous else self.host_array.strides

    def descr(self) -> Entry:
        return self.host_array.dtype.descr

    def mask_entry(self, mask: "Array") -> Entry:
        return mask

    def stream_entry(self) -> Entry:
        """Returns the stream that all pending work is in, or one that waits for all of it."""
        work = self.pending_work()
        if not work:
            return None
        streams = {one.stream.handle: one.stream for one in work}
        if len(streams) == 1 and all(one.stream_is_same_here() for one in work):
            (stream,) = streams.values()
        else:
            stream = self.joined_stream(work)
        return self.export_stream(stream)

    def export_stream(self, stream: Stream) -> Entry:
        self.exported_streams.append(stream)
        return stream.handle

    def pending_work(self) -> list[Work]:
        return self.memory.work

    def new_stream(self) -> Stream:
        """Makes the stream that is to wait for pending work."""
        return Stream()

    def joined_stream(self, work: list[Work]) -> Stream:
        stream = self.new_stream()
        for one in work:
            stream.wait(one.event)
        return stream

    def enqueue(
        self,
        stream: Stream | None,
        writes: bool,
        perform: Callable[[int, int, ctypes.c_void_p], None],
    ) -> None:
        """Enqueues work on the stream, after all earlier work that it conflicts with."""
        start, end = self.address_range()
        stream = stream or self.stream or Stream(LEGACY)
        for one in self.memory.work:
            same_stream = one.stream is stream and one.stream_is_same_here()
            if one.conflicts(start, end, writes) and not same_stream:
                stream.wait(one.event)
        for first, last in self.address_runs():
            perform(first, last - first, ctypes.c_void_p(stream.handle))
        self.record_work(Work(stream, start, end, writes))

    def record_work(self, work: Work) -> None:
        self.memory.work.append(work)

    def address_range(self) -> tuple[int, int]:
        start, end = byte_bounds(self.host_array)
        device_offset = self.memory.base - self.host_address
        return start + device_offset, end + device_offset

    def address_runs(self) -> list[tuple[int, int]]:
        """The ranges of addresses that the elements lie in, without the gaps between them."""
        start, end = self.address_range()
        array = self.host_array
        if end - start == array.nbytes:
            return [(start, end)]
        offset: int = array.__array_interface__["data"][0] - self.host_address
        first, steps = self.memory.base + offset, set()
        for index in numpy.ndindex(array.shape):
            axes = zip(index, array.strides, strict=True)
            steps.add(sum(position * stride for position, stride in axes))
        return [(first + step, first + step + array.itemsize) for step in sorted(steps)]


class Producer:
    """An adapter for a library of arrays, as `runners/python/ADAPTERS.md` describes it."""

    array_class = Array
    memory_class: type[Memory] = Memory

    def stream(self, kind: str) -> Stream:
        return Stream(
            {"new": None, "legacy": LEGACY, "per_thread": PER_THREAD, "default": LEGACY}[kind]
        )

    def array(self, spec: Any) -> Array:
        host_array = _filled(spec)
        return self.copy_to_device(host_array, spec.memory, spec.stream, spec.read_only, spec.mask)

    def copy_to_device(
        self, host_array: HostArray, memory_kind: str = "device", *more: Any
    ) -> Array:
        memory = self.memory_class(memory_kind, host_array.nbytes)
        if host_array.nbytes:
            self.upload(memory, host_array, *more)
        return self.array_class(memory, host_array, host_array.ctypes.data, *more)

    def upload(
        self, memory: Memory, host_array: HostArray, _stream: Stream | None = None, *_more: Any
    ) -> None:
        """Copies the elements of a new array, which has this stream or none."""
        upload(memory.base, host_array.ctypes.data, host_array.nbytes)

    def view(self, array: Array, way: str, value: Any) -> Array:
        view_of = _VIEWS[way]
        host_array = view_of(array.host_array, value)
        if host_array.size and not numpy.may_share_memory(host_array, array.host_array):
            raise NotImplementedError("a reshape that needs a copy")
        mask = array.mask
        if mask is not None and way not in ("byteswapped", "dtype"):
            whole_mask = numpy.broadcast_to(mask.host_array, array.host_array.shape)
            mask = self.new_view(mask, view_of(whole_mask, value))
        return self.new_view(array, host_array, mask)

    def new_view(self, array: Array, host_array: HostArray, mask: Array | None = None) -> Array:
        return type(array)(
            array.memory, host_array, array.host_address, array.stream, array.read_only, mask
        )

    def write(self, array: Array, stream: Stream | None, byte: int) -> None:
        def fill(start: int, size: int, handle: ctypes.c_void_p) -> None:
            count = ctypes.c_size_t(size)
            call("cuMemsetD8Async", ctypes.c_uint64(start), ctypes.c_ubyte(byte), count, handle)

        array.enqueue(stream, True, fill)

    def read(self, array: Array, stream: Stream | None) -> None:
        def copy(start: int, size: int, handle: ctypes.c_void_p) -> None:
            scratch = Memory("pinned", size)
            array.memory.scratch.append(scratch)
            target, source = ctypes.c_uint64(scratch.base), ctypes.c_uint64(start)
            call("cuMemcpyDtoDAsync_v2", target, source, ctypes.c_size_t(size), handle)

        array.enqueue(stream, False, copy)

    def plain_object(self, kind: str) -> Any:
        return numpy.zeros(4, numpy.float32)


_VIEWS: dict[str, Callable[[HostArray, Any], HostArray]] = {
    "slice": lambda array, value: array[value],
    "transpose": lambda array, _value: array.T,
    "broadcast_to": numpy.broadcast_to,
    "reshape": lambda array, value: array.reshape(value),
    "byteswapped": lambda array, _value: array.view(array.dtype.newbyteorder()),
    "dtype": lambda array, value: array.view(numpy.dtype(value)),
}


def _filled(spec: Any) -> HostArray:
    dtype = numpy.dtype(spec.typestr)
    if spec.fields:
        dtype = numpy.dtype(
            [
                (name, typestr, shape) if shape else (name, typestr)
                for name, typestr, shape in spec.fields
            ]
        )
    if not dtype.itemsize:
        empty: HostArray = numpy.ndarray(spec.shape, dtype)
        return empty
    elements = numpy.frombuffer(spec.data, dtype).reshape(spec.shape)
    return numpy.array(elements, order="F" if spec.layout == "fortran" else "C")


def adapter(array_class: type[Array]) -> type[Producer]:
    """Makes an adapter whose arrays are of this class."""
    attributes = {
        "array_class": array_class,
        "__doc__": array_class.__doc__,
        "__module__": array_class.__module__,
    }
    return type(array_class.__name__, (Producer,), attributes)
