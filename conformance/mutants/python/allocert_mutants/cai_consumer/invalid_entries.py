"""Consumers that accept entries which they should refuse."""

from typing import Any

import numpy

from .conforming_consumer import Consumer, Dtype, Entries, HostArray, View
from .offset_helpers import Integers, c_strides


class GuessesMissingEntries(Consumer):
    """Fills in required entries that are missing."""

    def entries(self, exporter: Any) -> Entries:
        given = dict(exporter.__cuda_array_interface__)
        return {"shape": (1,), "typestr": "<f4", "version": 3, **given}


class EmptyInsteadOfErrors(Consumer):
    """Takes an attribute that cannot be read for an array without elements."""

    def entries(self, exporter: Any) -> Entries:
        try:
            return super().entries(exporter)
        except (RuntimeError, AttributeError, TypeError):
            return {"shape": (0,), "typestr": "<f4", "version": 3, "data": (0, False)}


class TakesAnyData(Consumer):
    """Converts whatever stands in data to an address."""

    def data(self, entries: Entries) -> tuple[int, bool]:
        data = entries["data"]
        if not isinstance(data, tuple):
            return int(data), False
        return int(data[0]), len(data) > 1 and bool(data[1])


class ChecksNoAddresses(Consumer):
    """Does not check where the elements of an array lie."""

    def check_addresses(self, view: View) -> None:
        pass


class TakesNegativeExtents(Consumer):
    """Takes a negative extent for 0."""

    def shape(self, entries: Entries) -> Integers:
        return tuple(max(extent, 0) for extent in entries["shape"])


class TakesAnyShape(Consumer):
    """Converts whatever stands in shape to extents."""

    def shape(self, entries: Entries) -> Integers:
        shape = entries["shape"]
        return (shape,) if isinstance(shape, int) else tuple(int(extent) for extent in shape)


class TakesStreamZero(Consumer):
    """Takes stream 0 for no stream."""

    def stream_entry(self, entries: Entries) -> int | None:
        return super().stream_entry({"stream": entries.get("stream") or None})


class TakesAnyStream(Consumer):
    """Takes a stream that is no handle for no stream."""

    def stream_entry(self, entries: Entries) -> int | None:
        try:
            return super().stream_entry(entries)
        except ValueError:
            return None


class TakesAnyStrides(Consumer):
    """Takes strides of another length or type for none."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        try:
            return super().explicit_strides(strides, shape, itemsize)
        except (TypeError, ValueError):
            return c_strides(shape, itemsize)


class TakesObjects(Consumer):
    """Takes Python objects for opaque elements."""

    def typestr(self, entries: Entries) -> str:
        typestr = entries["typestr"]
        return "|V8" if typestr in ("|O", "|O8") else super().typestr(entries)


class TakesNumPyTypes(Consumer):
    """Takes every typestr that NumPy accepts."""

    def typestr(self, entries: Entries) -> str:
        return str(numpy.dtype(entries["typestr"]).str)


class TakesLaterVersions(Consumer):
    """Takes a later version for version 3."""

    def version(self, entries: Entries) -> int:
        return super().version({"version": min(entries["version"], 3)})


class TakesAnyVersion(Consumer):
    """Takes a version that is no integer for version 3."""

    def version(self, entries: Entries) -> int:
        version = entries["version"]
        return super().version(entries) if isinstance(version, int) else 3


class IgnoresWrongMasks(Consumer):
    """Takes a mask that is no array of its own for none."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        try:
            return super().validity(exporter, mask, shape)
        except (TypeError, ValueError):
            return numpy.ones(shape, bool)


class TakesSizeFromDescr(Consumer):
    """Takes the size of an element from descr."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        return numpy.dtype(entries.get("descr") or typestr)


class IgnoresSubArrays(Consumer):
    """Takes a field that is an array for one element of it."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        fields = entries.get("descr") or ()
        if not any(len(field) == 3 for field in fields):
            return super().dtype(entries, typestr)
        return numpy.dtype([tuple(field[:2]) for field in fields])
