"""Consumers that treat some arrays or some uses of them in a wrong way."""

import copy
import ctypes
import weakref
from typing import Any

from allocert_mutants.cuda_driver import Stream, call, upload

from .conforming_consumer import Consumer, Entries, HostArray, View, fill
from .offset_helpers import Integers, byte_range, c_strides, offsets
from .order_of_some_arrays import OverlooksArrays

_MEMORY_TYPE, _IS_MANAGED, _HOST = 2, 8, 1


class RemembersImports(Consumer):
    """Returns an earlier import of the same object, which waited for the work of that time."""

    keeps_owner = False

    def __init__(self) -> None:
        super().__init__()
        self.views: weakref.WeakKeyDictionary[Any, View] = weakref.WeakKeyDictionary()
        self.waited: weakref.WeakSet[View] = weakref.WeakSet()

    def owner_to_keep(self, exporter: Any) -> Any:
        return None

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        if exporter in self.views:
            return self.views[exporter]
        view = super().accept(exporter, ignore_stream)
        self.views[exporter] = view
        return view

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        if view in self.waited:
            return own or self.own_stream
        self.waited.add(view)
        return super().wait_for_producer(view, own)


class RemembersImportsById(Consumer):
    """Returns an earlier import of an object with the same id()."""

    keeps_owner = False

    def __init__(self) -> None:
        super().__init__()
        self.views: dict[int, View] = {}

    def owner_to_keep(self, exporter: Any) -> Any:
        return None

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        return self.views.setdefault(id(exporter), view)


class RemembersShapesOfObjects(Consumer):
    """Takes the shape of an object's first import for that of each."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: weakref.WeakKeyDictionary[Any, Integers] = weakref.WeakKeyDictionary()

    def view(self, exporter: Any, entries: Entries) -> View:
        shape = self.shapes.setdefault(exporter, entries["shape"])
        return super().view(exporter, {**entries, "shape": shape})


def attribute(view: View, number: int) -> int:
    """An attribute of the view's pointer, or 0 without an address."""
    found = ctypes.c_uint(0)
    if view.pointer:
        pointer = ctypes.c_uint64(view.pointer)
        call("cuPointerGetAttribute", ctypes.byref(found), ctypes.c_int(number), pointer)
    return found.value


class OverlooksManaged(OverlooksArrays):
    """Orders nothing for managed memory."""

    def overlooks(self, view: View) -> bool:
        return attribute(view, _IS_MANAGED) & 0xFF != 0


class OverlooksHostMemory(OverlooksArrays):
    """Orders nothing for memory of the host."""

    def overlooks(self, view: View) -> bool:
        return attribute(view, _MEMORY_TYPE) == _HOST


class OverlooksStructured(OverlooksArrays):
    """Orders nothing for elements with fields."""

    def overlooks(self, view: View) -> bool:
        return "descr" in view.entries


class NoBackEdgeFromMasked(Consumer):
    """Does not make the producer wait for work on masked arrays."""

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if view.valid is None:
            super().make_producer_wait(view, own)


class StridesOfFirstArgument(Consumer):
    """Takes the strides of the first argument for those of all of the same shape."""

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        first, *others = super().launch(exporters, stream)
        for one in others:
            if one["shape"] == first["shape"]:
                one["strides"] = first["strides"]
        return [first, *others]


class SwapsInPlace(Consumer):
    """Swaps the bytes of big-endian elements where they lie."""

    def read(self, view: View) -> HostArray:
        elements = super().read(view)
        is_packed = view.strides == c_strides(view.shape, view.dtype.itemsize)
        if view.dtype.byteorder == ">" and elements.size and is_packed:
            swapped = elements.astype(elements.dtype.newbyteorder("<"))
            upload(view.pointer, swapped.ctypes.data, swapped.nbytes)
        return elements


class ReplacesInvalidInPlace(Consumer):
    """Writes zeros over elements that are not valid, at the import."""

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        view = super().accept(exporter, ignore_stream)
        if view.valid is not None:
            own = self.wait_for_producer(view)
            places = zip(
                offsets(view.shape, view.strides), view.valid.ravel().tolist(), strict=True
            )
            for offset in [place for place, is_valid in places if not is_valid]:
                fill(view.pointer + offset, 0, view.dtype.itemsize, own)
            self.make_producer_wait(view, own)
        return view


class ReexportsWithoutStrides(Consumer):
    """Exports an imported array without its strides."""

    def export(self, view: View) -> View:
        exported = copy.copy(view)
        exported.entries = {key: one for key, one in view.entries.items() if key != "strides"}
        return exported


class ReexportsLowestAddress(Consumer):
    """Exports an imported array with the lowest of its addresses."""

    def export(self, view: View) -> View:
        low, _ = byte_range(view.shape, view.strides, view.dtype.itemsize)
        exported = copy.copy(view)
        if view.pointer:
            exported.entries = {**view.entries, "data": (view.pointer + low, view.read_only)}
        return exported


class ReadsStartOfAllocation(Consumer):
    """Takes the start of the allocation for the first element of an array in C order."""

    def data(self, entries: Entries) -> tuple[int, bool]:
        pointer, read_only = super().data(entries)
        if not pointer or entries.get("strides") is not None:
            return pointer, read_only
        base, size = ctypes.c_uint64(pointer), ctypes.c_size_t()
        address = ctypes.c_uint64(pointer)
        if 0 not in entries["shape"]:
            call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size), address)
        return base.value, read_only


class AlignsPointer(Consumer):
    """Rounds the pointer down to a multiple of 4."""

    def data(self, entries: Entries) -> tuple[int, bool]:
        pointer, read_only = super().data(entries)
        is_plain = entries.get("strides") is None
        return pointer & ~3 if is_plain else pointer, read_only


class TransposesSquares(Consumer):
    """Takes the strides in reverse where all extents are equal."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        found = super().explicit_strides(strides, shape, itemsize)
        return found[::-1] if len(set(shape)) == 1 else found


class EightAxesOnly(Consumer):
    """Leaves out axes behind the eighth."""

    def shape(self, entries: Entries) -> Integers:
        return super().shape(entries)[:8]
