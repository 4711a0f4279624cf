"""Consumers that are wrong for one rare kind of array alone."""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy

from allocert_mutants.cuda_driver import Stream

from .conforming_consumer import Consumer, Dtype, Entries, HostArray, View, fill
from .fields import TakesFields
from .offset_helpers import Integers, byte_range, c_strides


def _swaps_no(*typestrs: str) -> type[Consumer]:
    """A consumer that overlooks the byte order of these types."""

    class SwapsNo(Consumer):
        def dtype(self, entries: Entries, typestr: str) -> Dtype:
            found: Dtype = super().dtype(entries, typestr)
            return found.newbyteorder("<") if typestr in typestrs else found

    return SwapsNo


def _exports(change: Callable[[View, Entries], Entries]) -> type[Consumer]:
    """A consumer whose export of an import has other entries."""

    class Exports(Consumer):
        def export(self, view: View) -> View:
            exported = copy.copy(view)
            exported.entries = {**view.entries, **change(view, view.entries)}
            return exported

    return Exports


SwapsNoShortIntegers = _swaps_no(">u2")
SwapsNoComplexNumbers = _swaps_no(">c8", ">c16")
ExportsScalarsAsVectors = _exports(
    lambda view, _entries: {} if view.shape else {"shape": (1,), "strides": None}
)
ExportsBroadcastWithoutStrides = _exports(
    lambda view, _entries: {"strides": None} if 0 in view.strides else {}
)


class FillsGapsOfCubes(Consumer):
    """Writes everything between the first and the last element of an array of three axes."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        super().fill(view, byte, own)
        if len(view.shape) != 3 or not math.prod(view.shape):
            return
        low, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        fill(view.pointer + low, byte, high - low, own)
        self.make_producer_wait(view, own)


class WritesForwards(Consumer):
    """Writes from the address on where all strides are negative."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        if not view.strides or max(view.strides) >= 0 or not math.prod(view.shape):
            super().fill(view, byte, own)
            return
        fill(view.pointer, byte, math.prod(view.shape) * view.dtype.itemsize, own)
        self.make_producer_wait(view, own)


class SecondExportIsShifted(Consumer):
    """Exports an import a second time from its second element on."""

    def __init__(self) -> None:
        super().__init__()
        self._exported: list[View] = []

    def export(self, view: View) -> View:
        again = any(view is earlier for earlier in self._exported)
        self._exported.append(view)
        if not again or not math.prod(view.shape):
            return view
        shifted = copy.copy(view)
        pointer = view.pointer + view.dtype.itemsize
        shifted.entries = {**view.entries, "data": (pointer, view.read_only)}
        return shifted


class WritesReadOnlyMasked(Consumer):
    """Writes to read-only data that have a mask."""

    def write(self, view: View, byte: int) -> None:
        if view.read_only and view.valid is None:
            raise ValueError("the data are read-only")
        self.fill(view, byte, self.wait_for_producer(view))


class AlignsPointers(Consumer):
    """Reads elements at an odd address from the address of whole elements in front of it."""

    def data(self, entries: Entries) -> tuple[int, bool]:
        pointer, read_only = super().data(entries)
        size = 4 if entries["typestr"].endswith("i4") else 1
        return pointer - pointer % size, read_only


class TakesFullNames(TakesFields):
    """Knows a field by its full name, where it has one."""

    def structure(self, descr: list[Any], itemsize: int) -> Dtype:
        named = [(name[0] if isinstance(name, tuple) else name, *more) for name, *more in descr]
        return super().structure(named, itemsize)


class ReadsFirstOfSubArrays(TakesFields):
    """Reads the first element alone of a field that is an array, and skips the others."""

    def structure(self, descr: list[Any], itemsize: int) -> Dtype:
        fields: list[Any] = []
        for name, described, *shape in descr:
            fields.append((name, described))
            left = math.prod(shape[0]) - 1 if shape else 0
            if left:
                fields.append(("", f"|V{left * numpy.dtype(described).itemsize}"))
        return super().structure(fields, itemsize)


class TruncatesFractionsOfMasks(Consumer):
    """Takes the whole part of a mask element for its value."""

    def is_true(self, elements: HostArray) -> Any:
        return elements.astype(numpy.int64) != 0


class IgnoresMasksWithoutAxes(Consumer):
    """Ignores a mask without dimensions."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        found = super().validity(exporter, mask, shape)
        scalar = shape and not self.entries(mask)["shape"]
        return numpy.ones(shape, bool) if scalar else found


class IgnoresForEver(Consumer):
    """Ignores the stream of each import after one that was asked to ignore it."""

    def __init__(self) -> None:
        super().__init__()
        self._ignored = False

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        self._ignored = self._ignored or ignore_stream
        return super().accept(exporter, self._ignored)


class MiddleStrideFollows(Consumer):
    """Computes the middle one of three strides from the last stride and its extent."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        found = super().explicit_strides(strides, shape, itemsize)
        in_order = len(shape) == 3 and found == tuple(sorted(found, reverse=True))
        if len(shape) != 3 or in_order or found == c_strides(shape, itemsize):
            return found
        return (found[0], found[2] * shape[2], found[2])
