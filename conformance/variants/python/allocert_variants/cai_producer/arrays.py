"""Producers that keep the elements of arrays, views and masks in other ways than the reference."""

import collections
import ctypes
from typing import Any

import numpy
from allocert_mutants.cai_producer.conforming_producer import (
    Array,
    HostArray,
    Producer,
    adapter,
)
from allocert_mutants.cuda_driver import LEGACY, Memory, Stream, call, upload


class CopyingViews(Producer):
    """Copies the elements of a view into memory of its own."""

    def new_view(self, array: Array, host_array: HostArray, mask: Array | None = None) -> Array:
        copied = numpy.array(host_array, order="C")
        for work in array.memory.work:
            _finish(work.stream)
        _copy_back(array)
        copied[...] = host_array
        return self.copy_to_device(copied, "device", array.stream, array.read_only, mask)


def _finish(stream: Stream) -> None:
    call("cuStreamSynchronize", ctypes.c_void_p(stream.handle))


def _copy_back(array: Array) -> None:
    """Brings the host's copy up to date with the device's memory."""
    size = array.memory.size_bytes
    if size:
        target = ctypes.c_void_p(array.host_address)
        call(
            "cuMemcpyDtoH_v2",
            target,
            ctypes.c_uint64(array.memory.base),
            ctypes.c_size_t(size),
        )


class PitchedRows(Producer):
    """Begins each row of a matrix at a multiple of 256 bytes."""

    def copy_to_device(
        self, host_array: HostArray, memory_kind: str = "device", *more: Any
    ) -> Array:
        if host_array.ndim != 2 or not host_array.flags.c_contiguous or not host_array.size:
            return super().copy_to_device(host_array, memory_kind, *more)
        rows, columns = host_array.shape
        itemsize = host_array.dtype.itemsize
        pitch = -(-columns * itemsize // 256) * 256
        padded = numpy.zeros((rows, pitch), numpy.uint8)
        view = numpy.ndarray((rows, columns), host_array.dtype, padded, 0, (pitch, itemsize))
        view[...] = host_array
        whole = super().copy_to_device(padded, memory_kind)
        return self.array_class(whole.memory, view, whole.host_address, *more)


class _CycleArray(Array):
    """An array in a cycle of references."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.itself = self


class ReferenceCycles(Producer):
    """Makes arrays that refer to themselves."""

    array_class: type[Array] = _CycleArray


class IntegerMasks(Producer):
    """Exports masks of 32-bit integers, with -1 for true."""

    true: float = -1
    false: float = 0
    dtype = "<i4"

    def array(self, spec: Any) -> Array:
        made = super().array(spec)
        if made.mask is not None:
            truths = made.mask.host_array != 0
            elements = numpy.where(truths, self.true, self.false).astype(self.dtype)
            made.mask = self.copy_to_device(elements)
        return made


class ByteMasks(IntegerMasks):
    """Exports masks of bytes, with 255 for true."""

    true = 255
    dtype = "|u1"


class FloatMasks(IntegerMasks):
    """Exports masks of floating-point numbers, with -0.0 for false."""

    true = 0.5
    false = -0.0
    dtype = "<f4"


@adapter
class CompactMasks(Array):
    """Exports a mask with one element along each axis on which it is the same everywhere."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.compact: Array | None = None

    def interface(self) -> Any:
        entries = super().interface()
        if self.mask is None or self.mask.memory.work:
            return entries
        if self.compact is None:
            elements = self.mask.host_array
            for axis in range(elements.ndim):
                first = elements.take([0], axis) if elements.shape[axis] else elements
                elements = first if (elements == first).all() else elements
            self.compact = Producer().copy_to_device(numpy.ascontiguousarray(elements))
        return {**entries, "mask": self.compact}


class OmitsFullMasks(Producer):
    """Leaves a mask out that hides nothing."""

    def array(self, spec: Any) -> Array:
        made = super().array(spec)
        if made.mask is not None and made.mask.host_array.all():
            made.mask = None
        return made


class AlignedBlocks(Producer):
    """Begins each array 256 bytes behind the start of a larger block."""

    def copy_to_device(
        self, host_array: HostArray, memory_kind: str = "device", *more: Any
    ) -> Array:
        if not host_array.size:
            return super().copy_to_device(host_array, memory_kind, *more)
        block = numpy.zeros(512 + host_array.nbytes, numpy.uint8)
        begin = 256
        view: HostArray = numpy.ndarray(
            host_array.shape, host_array.dtype, block, begin, host_array.strides
        )
        view[...] = host_array
        whole = super().copy_to_device(block, memory_kind)
        return self.array_class(whole.memory, view, whole.host_address, *more)


class _SharingMemory(Memory):
    """Memory that several arrays may share."""

    sharing = 1


class _CopyOnWriteArray(Array):
    """An array that shares memory with others until one of them is written."""

    def enqueue(self, stream: Stream | None, writes: bool, *more: Any) -> None:
        shared: Any = self.memory
        if writes and shared.sharing > 1 and self.host_array.size:
            for work in shared.work:
                _finish(work.stream)
            _copy_back(self)
            shared.sharing -= 1
            copied = numpy.array(self.host_array, order="C")
            self.memory = _SharingMemory("device", copied.nbytes)
            self.host_array, self.host_address = copied, copied.ctypes.data
            upload(self.memory.base, self.host_address, copied.nbytes)
        super().enqueue(stream, writes, *more)


class CopiesViewsAtWrites(Producer):
    """Lets views share the memory of their array until one of them is written."""

    array_class: type[Array] = _CopyOnWriteArray
    memory_class: type[Memory] = _SharingMemory

    def new_view(self, array: Array, host_array: HostArray, mask: Array | None = None) -> Array:
        shared: Any = array.memory
        shared.sharing += 1
        return super().new_view(array, host_array, mask)


class _CopyingArray(Array):
    """An array that shows a copy of its elements at each export, and keeps the copy."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.copies: list[Memory] = []

    def interface(self) -> Any:
        if not self.host_array.size:
            return super().interface()
        original = self.memory
        original.wait()
        self.copies.append(_copy_of(original))
        self.memory = self.copies[-1]
        try:
            return super().interface()
        finally:
            self.memory = original


def _copy_of(memory: Memory) -> Memory:
    copied = Memory("device", memory.size_bytes)
    target, source = ctypes.c_uint64(copied.base), ctypes.c_uint64(memory.base)
    call("cuMemcpyDtoD_v2", target, source, ctypes.c_size_t(memory.size_bytes))
    call("cuStreamSynchronize", ctypes.c_void_p(LEGACY))
    return copied


class CopiesAtExport(Producer):
    """Exports a copy of the elements at each reading."""

    array_class: type[Array] = _CopyingArray


class _MovingArray(Array):
    """An array whose elements move to device memory at the first export."""

    def interface(self) -> Any:
        memory: Any = self.memory
        if self.host_array.size and not memory.moved:
            memory.wait()
            memory.moved = _copy_of(memory)
            memory.moved.base, memory.base = memory.base, memory.moved.base
        return super().interface()


class _MovingMemory(Memory):
    """Memory that holds the elements now, and in `moved` what held them before."""

    moved: Memory | None = None


class MovesAtExport(Producer):
    """Moves the elements to device memory when the attribute is read for the first time."""

    array_class: type[Array] = _MovingArray
    memory_class: type[Memory] = _MovingMemory


class _InFreshMemory(Array):
    """What was exported before stays as it was. The array keeps the old memory for so long."""

    viewed = False

    def enqueue(self, stream: Stream | None, writes: bool, perform: Any) -> None:
        if writes and not self.viewed and self.host_array.size:
            self.earlier = [*getattr(self, "earlier", []), self.memory]
            self.memory = Memory("device", self.memory.size_bytes)
        super().enqueue(stream, writes, perform)


class WritesToFreshMemory(Producer):
    """Writes a whole array without views to new memory."""

    array_class = _InFreshMemory

    def new_view(self, array: Array, host_array: HostArray, mask: Array | None = None) -> Array:
        view = super().new_view(array, host_array, mask)
        for one in (array, view):
            if isinstance(one, _InFreshMemory):
                one.viewed = True
        return view


class KeepsArrays(Producer):
    """Keeps the last 64 arrays that it made, whether anybody read their attribute or not."""

    def __init__(self) -> None:
        self.made: collections.deque[Array] = collections.deque(maxlen=64)

    def copy_to_device(self, *arguments: Any) -> Array:
        self.made.append(super().copy_to_device(*arguments))
        return self.made[-1]
