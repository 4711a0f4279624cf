"""Consumers that read the shape, type, pointer or strides of an array wrongly."""

from typing import Any

import numpy

from .conforming_consumer import Consumer, Dtype, Entries, HostArray, View
from .offset_helpers import Integers, c_strides


class NeedsStrides(Consumer):
    """Refuses a dictionary without strides."""

    def strides(self, entries: Entries, shape: Integers, itemsize: int) -> Integers:
        return super().strides({"strides": entries["strides"]}, shape, itemsize)


class ScalarIsEmpty(Consumer):
    """Treats an array of no dimensions as one of no elements."""

    def shape(self, entries: Entries) -> Integers:
        return super().shape(entries) or (0,)

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        strides = strides or c_strides(shape, itemsize)
        return super().explicit_strides(strides, shape, itemsize)


class DropsUnitAxes(Consumer):
    """Drops axes of one element."""

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        axes = zip(view.shape, view.strides, strict=False)
        longer = [(extent, stride) for extent, stride in axes if extent != 1]
        view.shape = tuple(extent for extent, _ in longer)
        view.strides = tuple(stride for _, stride in longer)
        return view


class OneElementIsScalar(Consumer):
    """Takes a vector of one element for an array of no dimensions."""

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        if view.shape == (1,):
            view.shape = view.strides = ()
        return view


class IgnoresByteOrder(Consumer):
    """Reads big-endian data as little-endian."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        return super().dtype(entries, typestr.replace(">", "<"))


class ReadsIntegersOnly(Consumer):
    """Reads every type as the integer of its size."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        itemsize = super().dtype(entries, typestr).itemsize
        return numpy.dtype(f"<i{itemsize}" if itemsize in (1, 2, 4, 8) else f"|V{itemsize}")


class RefusesNullPointer(Consumer):
    """Refuses address 0 of an array of no elements."""

    def data(self, entries: Entries) -> tuple[int, bool]:
        pointer, read_only = super().data(entries)
        if not pointer:
            raise ValueError("the pointer is 0")
        return pointer, read_only


class Skips8Bytes(Consumer):
    """Reads from eight bytes behind the pointer."""

    def data(self, entries: Entries) -> tuple[int, bool]:
        pointer, read_only = super().data(entries)
        return pointer + 8 if pointer else 0, read_only


class ReusesViewOfSameShape(Consumer):
    """Uses one view for all arrays of the same shape and type."""

    def __init__(self) -> None:
        super().__init__()
        self.views: dict[tuple[Integers, str], View] = {}

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        return self.views.setdefault((view.shape, view.typestr), view)


class ReusesViewOfSameAddress(Consumer):
    """Uses one view for all arrays at the same address."""

    def __init__(self) -> None:
        super().__init__()
        self.views: dict[Any, View] = {}

    def key(self, view: View) -> Any:
        return view.pointer

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        # Nothing tells two arrays without elements apart by their address.
        return self.views.setdefault(self.key(view), view) if view.pointer else view


class ReusesViewOfSameElements(ReusesViewOfSameAddress):
    """Uses one view for all arrays of the same address, shape and type."""

    def key(self, view: View) -> Any:
        return view.pointer, view.shape, view.typestr


class ReusesCopyOfSameElements(ReusesViewOfSameElements):
    """Reads arrays of the same address, shape, type and strides once."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: dict[Any, HostArray] = {}

    def key(self, view: View) -> Any:
        return *super().key(view), view.strides, view.stream

    def read(self, view: View) -> HostArray:
        key = self.key(view)
        if key not in self.elements:
            self.elements[key] = super().read(view)
        return self.elements[key]


class InnerStrideZeroIsMissing(Consumer):
    """Takes a stride of 0 along all axes but the first for one that is missing."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        outer, *inner = super().explicit_strides(strides, shape, itemsize) or (0,)
        default = c_strides(shape, itemsize)[1:]
        found = (outer, *(one or other for one, other in zip(inner, default, strict=False)))
        return found[: len(shape)]


class ReadsUnsignedAsSigned(Consumer):
    """Reads unsigned integers as signed ones."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        return super().dtype(entries, typestr.replace("u", "i"))


class ReadsBooleansAsIntegers(Consumer):
    """Says that elements are booleans, and reads them as integers of one byte."""

    def read(self, view: View) -> HostArray:
        elements = super().read(view)
        return elements.view(numpy.int8) if view.dtype.kind == "b" else elements


class CountsBytesOfText(Consumer):
    """Takes the number of characters for the number of bytes."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        dtype = super().dtype(entries, typestr)
        return numpy.dtype(f"|S{dtype.itemsize // 4}") if dtype.kind == "U" else dtype


class Conjugates(Consumer):
    """Reads the conjugates of complex numbers."""

    def read(self, view: View) -> HostArray:
        elements = super().read(view)
        return numpy.conj(elements) if view.dtype.kind == "c" else elements


class IgnoresStridesBeforeVersion2(Consumer):
    """Ignores strides before version 2."""

    def strides(self, entries: Entries, shape: Integers, itemsize: int) -> Integers:
        return super().strides(entries if entries["version"] >= 2 else {}, shape, itemsize)


def _fortran_strides(shape: Integers, itemsize: int) -> Integers:
    return tuple(reversed(c_strides(tuple(reversed(shape)), itemsize)))


class FortranOrderByDefault(Consumer):
    """Reads arrays without strides in Fortran order."""

    def strides(self, entries: Entries, shape: Integers, itemsize: int) -> Integers:
        if entries.get("strides") is None:
            return _fortran_strides(shape, itemsize)
        return super().strides(entries, shape, itemsize)


class ExplicitCStridesAreFortran(Consumer):
    """Reads arrays with explicit strides of C order in Fortran order."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        strides = super().explicit_strides(strides, shape, itemsize)
        in_c_order = strides == c_strides(shape, itemsize)
        return _fortran_strides(shape, itemsize) if in_c_order else strides


class IgnoresStrides(Consumer):
    """Reads every array as contiguous."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        return c_strides(shape, itemsize)


class RoundsStrides(Consumer):
    """Rounds strides down to whole elements."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        exact = super().explicit_strides(strides, shape, itemsize)
        return tuple(stride // itemsize * itemsize for stride in exact)


class IgnoresNegativeStrides(Consumer):
    """Reads forwards where strides are negative."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        return tuple(map(abs, super().explicit_strides(strides, shape, itemsize)))


class StrideZeroIsMissing(Consumer):
    """Treats a stride of 0 as one that is missing."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        given = super().explicit_strides(strides, shape, itemsize)
        default = c_strides(shape, itemsize)
        return tuple(one or other for one, other in zip(given, default, strict=False))


class IgnoresPadding(Consumer):
    """Leaves the padding out of the element size."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        named = [field for field in entries.get("descr") or () if field[0]]
        if not named:
            return super().dtype(entries, typestr)
        return numpy.dtype(f"|V{numpy.dtype(named).itemsize}")


class MakesOneByteOfNone(Consumer):
    """Reads elements of no bytes as NumPy makes arrays of them, with one byte each."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        return numpy.empty(1, typestr).dtype


class ReadsOpaqueAsBytes(Consumer):
    """Reads raw bytes without descr as single ones."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        dtype = super().dtype(entries, typestr)
        is_opaque = dtype.kind == "V" and not entries.get("descr")
        return numpy.dtype("|u1") if is_opaque else dtype


class ReadsFirstPage(Consumer):
    """Reads the first 4096 bytes of an array, and zeros behind them."""

    def read(self, view: View) -> HostArray:
        elements = super().read(view)
        if elements.nbytes > 4096:
            elements.reshape(-1)[4096 // elements.itemsize :] = 0
        return elements
