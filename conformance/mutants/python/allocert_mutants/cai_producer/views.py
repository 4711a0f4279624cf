"""Producers that make wrong views, most of them of views."""

import ctypes
from typing import Any

import numpy

from allocert_mutants.cuda_driver import Memory, Stream, Work, call, call_without_check

from .conforming_producer import Array, Entry, HostArray, Producer, adapter


class _ShiftedArray(Array):
    """An array at an address that is too low by some bytes."""

    shift_bytes = 0

    def address(self) -> int:
        return super().address() - self.shift_bytes


class SlicesOfViewsLoseOffset(Producer):
    """Counts the offset of a slice from the start of the memory, not from that of the view."""

    array_class: type[Array] = _ShiftedArray

    def view(self, array: Any, way: str, value: Any) -> Any:
        made: Any = super().view(array, way, value)
        if way == "slice":
            made.shift_bytes = array.address() - array.memory.base
        return made


class _StridedArray(Array):
    """An array whose strides may be wrong."""

    wrong_strides: tuple[int, ...] | None = None

    def strides(self) -> Entry:
        return self.wrong_strides or super().strides()


class StrideOfLastStepOnly(Producer):
    """Takes the step of the last slice for the stride in elements."""

    array_class: type[Array] = _StridedArray

    def view(self, array: Any, way: str, value: Any) -> Any:
        made: Any = super().view(array, way, value)
        if way == "slice" and made.host_array.ndim == array.host_array.ndim == 1:
            step = made.host_array.strides[0] // array.host_array.strides[0]
            made.wrong_strides = (step * array.host_array.itemsize,)
        return made


class SlicesOfReversedAreEmpty(Producer):
    """Makes an empty view when a view with a negative stride is sliced."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        if way == "slice" and any(stride < 0 for stride in array.host_array.strides):
            return self.new_view(array, array.host_array[:0])
        return super().view(array, way, value)


class OtherViewsAreWritable(Producer):
    """Keeps the read-only flag in slices alone."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        made = super().view(array, way, value)
        made.read_only = array.read_only and way == "slice"
        return made


class ReinterpretedViewsAreWritable(Producer):
    """Loses the read-only flag in views of another type or byte order."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        made = super().view(array, way, value)
        made.read_only = array.read_only and way not in ("dtype", "byteswapped")
        return made


class ViewArray(Array):
    """An array that knows whether it is a view."""

    is_view = False


class ViewsOfViewsAreWritable(Producer):
    """Keeps the read-only flag in the views of arrays alone."""

    array_class: type[Array] = ViewArray

    def view(self, array: Any, way: str, value: Any) -> Any:
        made: Any = super().view(array, way, value)
        made.read_only, made.is_view = array.read_only and not array.is_view, True
        return made


class OtherViewsLackMask(Producer):
    """Keeps the mask in slices alone."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        made = super().view(array, way, value)
        made.mask = made.mask if way == "slice" else None
        return made


class TransposesWithoutMask(Producer):
    """Transposes the data and not the mask."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        made = super().view(array, way, value)
        made.mask = array.mask if way == "transpose" else made.mask
        return made


class IgnoresNewAxes(Producer):
    """Leaves new axes out of a view."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        if way == "slice":
            value = tuple(axis for axis in value if axis is not None)
        return super().view(array, way, value)


@adapter
class ElementsAtOwnersAddress(Array):
    """Reports the start of the memory as the address of a view without axes."""

    def address(self) -> int:
        return super().address() if self.host_array.ndim else self.memory.base


class ReshapesInPlace(Producer):
    """Takes the elements in the order of the memory when it reshapes a view."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        if way != "reshape" or array.host_array.flags.c_contiguous:
            return super().view(array, way, value)
        host_array, size = array.host_array, array.host_array.nbytes
        memory = (ctypes.c_ubyte * size).from_address(array.host_address)
        elements = numpy.ctypeslib.as_array(memory).view(host_array.dtype)
        return self.new_view(array, elements.reshape(value))


@adapter
class StridesOfTwoAxesOnly(Array):
    """Reports no strides for arrays of more than two axes."""

    def strides(self) -> Entry:
        return super().strides() if self.host_array.ndim < 3 else None


class _LinkedArray(Array):
    """An array that notes its work at itself and at the array that it is a view of."""

    source: "_LinkedArray | None" = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.noted: list[Work] = []

    def record_work(self, work: Work) -> None:
        super().record_work(work)
        for array in (self, self.source):
            if array is not None:
                array.noted.append(work)

    def pending_work(self) -> list[Work]:
        return self.noted + (self.source.noted if self.source else [])


class KnowsSources(Producer):
    """Tells each view which array it is a view of."""

    def view(self, array: Any, way: str, value: Any) -> Any:
        made: Any = super().view(array, way, value)
        made.source = array
        return made


class LinksOneLevelOfViews(KnowsSources):
    """Notes work at an array and at the array that it is a view of, and at no third one."""

    array_class: type[Array] = _LinkedArray


class ReusesMemoryOfDeadArrays(Producer):
    """Gives the memory of a dead array to the next one, and forgets the work on it."""

    def __init__(self) -> None:
        self.dead: list[Memory] = []

    def copy_to_device(
        self, host_array: HostArray, memory_kind: str = "device", *more: Any
    ) -> Array:
        size = host_array.nbytes
        fitting = [one for one in self.dead if memory_kind == "device" and one.size_bytes == size]
        if not fitting:
            made = super().copy_to_device(host_array, memory_kind, *more)
            made.memory = _Lent(self.dead, made.memory)
            return made
        self.dead.remove(fitting[0])
        lent = _Lent(self.dead, fitting[0])
        made = self.array_class(lent, host_array, host_array.ctypes.data, *more)
        own, target = Stream(), ctypes.c_uint64(made.memory.base)
        source, handle = ctypes.c_void_p(host_array.ctypes.data), ctypes.c_void_p(own.handle)
        call("cuMemcpyHtoDAsync_v2", target, source, ctypes.c_size_t(size), handle)
        call("cuStreamSynchronize", handle)
        return made


class ForgetsReadsOfDeadArrays(ReusesMemoryOfDeadArrays):
    """Gives the memory of a dead array to the next one when it was written, but not yet read."""

    def copy_to_device(self, *arguments: Any) -> Array:
        made = super().copy_to_device(*arguments)
        made.memory = _LentUntilWritten(self.dead, made.memory)
        return made


class _Lent(Memory):
    """The memory of an array, which goes to a list of free memory with the array."""

    def __init__(self, dead: list[Memory], memory: Memory) -> None:
        self.dead, self.memory = dead, memory
        self.base, self.size_bytes, self.work = memory.base, memory.size_bytes, []
        self.scratch = memory.scratch

    def __del__(self) -> None:
        self.dead.append(self.memory)


class _LentUntilWritten(_Lent):
    """Waits for the writes to the memory before it goes to the list."""

    def __del__(self) -> None:
        for one in self.work:
            if one.writes:
                call_without_check("cuEventSynchronize", one.event.handle)
        super().__del__()


class _Borrowed(Memory):
    """The memory of an array, which does not live as long as this."""

    def __init__(self, memory: Memory) -> None:
        self.base, self.size_bytes, self.work = memory.base, memory.size_bytes, memory.work
        self.scratch = memory.scratch


class ViewsKeepNoMemory(Producer):
    """Frees the memory of an array with the array, although a view shows it."""

    def new_view(self, array: Array, host_array: HostArray, mask: Array | None = None) -> Array:
        made = super().new_view(array, host_array, mask)
        made.memory = _Borrowed(made.memory)
        return made


class ReusesMemoryOfViews(ReusesMemoryOfDeadArrays):
    """Gives the memory of a dead array to the next one, although a view shows it."""

    def copy_to_device(
        self, host_array: HostArray, memory_kind: str = "device", *more: Any
    ) -> Array:
        call("cuCtxSynchronize")
        return super().copy_to_device(host_array, memory_kind, *more)

    def new_view(self, array: Array, host_array: HostArray, mask: Array | None = None) -> Array:
        made = super().new_view(array, host_array, mask)
        made.memory = _Borrowed(made.memory)
        return made


class ReinterpretedViewsKeepShape(Producer):
    """Makes a view of elements of another size with the shape of the array."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        host_array = array.host_array
        if way != "dtype" or numpy.dtype(value).itemsize > host_array.itemsize:
            return super().view(array, way, value)
        memory = host_array.view(numpy.uint8).reshape(-1)
        return self.new_view(array, numpy.ndarray(host_array.shape, value, memory))


class TransposesLastAxes(Producer):
    """Exchanges the last two axes, however many there are."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        if way != "transpose" or array.host_array.ndim < 3:
            return super().view(array, way, value)
        return self.new_view(array, array.host_array.swapaxes(-1, -2))


class _WrittenArray(Array):
    """An array that has the address of its memory when it is written."""

    was_written = False

    def record_work(self, work: Work) -> None:
        super().record_work(work)
        self.was_written = True

    def address(self) -> int:
        return self.memory.base if self.was_written else super().address()


class WrittenViewsMove(Producer):
    """Reports the start of the memory as the address of a view that was written."""

    array_class: type[Array] = _WrittenArray


@adapter
class BroadcastAxesKeepStride(Array):
    """Reports the size of an element as the stride of a broadcast last axis."""

    def strides(self) -> Entry:
        strides = self.host_array.strides
        if len(strides) == 2 and strides[0] and strides[1] == 0:
            return strides[0], self.host_array.itemsize
        return super().strides()
