"""Consumers that refuse or misread entries which they should take."""

import ctypes
import math
from typing import Any

import numpy

from allocert_mutants.cuda_driver import Stream, call, call_without_check

from .conforming_consumer import Consumer, Entries, HostArray, View
from .offset_helpers import Integers

_KNOWN = {"shape", "typestr", "data", "version", "strides", "descr", "mask", "stream"}
_MEMORY_TYPE, _ORDINAL = 2, 9


class RefusesUnknownEntries(Consumer):
    """Refuses a dictionary with an entry that the text does not define."""

    def entries(self, exporter: Any) -> Entries:
        entries = super().entries(exporter)
        if not set(entries) <= _KNOWN:
            raise ValueError("unknown entries")
        return entries


class ChangesDictionary(Consumer):
    """Writes into the dictionary of the producer."""

    def entries(self, exporter: Any) -> Entries:
        entries = exporter.__cuda_array_interface__
        if isinstance(entries, dict):
            entries["consumed"] = True
        return dict(entries)


class PointerOfSecondReading(Consumer):
    """Reads the attribute once for the layout and once more for the pointer."""

    def view(self, exporter: Any, entries: Entries) -> View:
        again = self.entries(exporter)
        return super().view(exporter, {**entries, "data": again["data"]})


class StreamOfSecondReading(Consumer):
    """Reads the attribute once for the array and once more for the stream."""

    def view(self, exporter: Any, entries: Entries) -> View:
        again = self.entries(exporter)
        return super().view(exporter, {**entries, "stream": again.get("stream")})


class LaunchesPointerOfSecondReading(Consumer):
    """Reads the attribute of an argument again for the pointer."""

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        self.launched = iter(exporters)
        return super().launch(exporters, stream)

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        view.pointer, _ = self.data(self.entries(next(self.launched)))
        return super().wait_for_argument(index, view, own)


class RefusesAddressesOfEmptyArrays(Consumer):
    """Refuses an array without elements whose pointer is not 0."""

    def data(self, entries: Entries) -> tuple[int, bool]:
        pointer, read_only = super().data(entries)
        if pointer and 0 in entries["shape"]:
            raise ValueError("an empty array has an address")
        return pointer, read_only


class EmptyIsOneElement(Consumer):
    """Takes an extent of 0 for 1."""

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        view.shape = tuple(extent or 1 for extent in view.shape)
        return view


class MaskedEmptyIsOneElement(Consumer):
    """Takes an extent of 0 for 1 where there is a mask."""

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        if view.valid is not None:
            view.shape = tuple(extent or 1 for extent in view.shape)
        return view


class AsksAboutNullPointer(Consumer):
    """Asks the driver about every pointer."""

    def data(self, entries: Entries) -> tuple[int, bool]:
        pointer, read_only = super().data(entries)
        kind = ctypes.c_uint()
        attribute, address = ctypes.c_int(_MEMORY_TYPE), ctypes.c_uint64(pointer)
        call_without_check("cuPointerGetAttribute", ctypes.byref(kind), attribute, address)
        return pointer, read_only


class ReadsOwnDeviceOnly(Consumer):
    """Reads zeros from another device than the first."""

    def read(self, view: View) -> HostArray:
        if math.prod(view.shape):
            device = ctypes.c_int()
            attribute, address = ctypes.c_int(_ORDINAL), ctypes.c_uint64(view.pointer)
            call("cuPointerGetAttribute", ctypes.byref(device), attribute, address)
            if device.value:
                return numpy.zeros(view.shape, view.dtype)
        return super().read(view)


class FailsToRead(Consumer):
    """Accepts arrays that it cannot read."""

    def read(self, view: View) -> HostArray:
        raise RuntimeError("no such operation")


class NeedsAlignedStrides(Consumer):
    """Refuses strides that are no multiple of the element, also where nobody uses them."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        exact = super().explicit_strides(strides, shape, itemsize)
        if any(stride % itemsize for stride in exact):
            raise ValueError("unaligned strides")
        return exact


class RefusesEarlierVersions(Consumer):
    """Refuses every version but the current one."""

    def version(self, entries: Entries) -> int:
        if super().version(entries) < 3:
            raise ValueError("an earlier version")
        return 3


class RefusesEarlyStreams(Consumer):
    """Refuses a stream before version 3."""

    def stream_entry(self, entries: Entries) -> int | None:
        stream = super().stream_entry(entries)
        if stream is not None and entries["version"] < 3:
            raise ValueError("a stream before version 3")
        return stream


class HidesDataOfEarlyMasks(Consumer):
    """Reads zeros where a dictionary of version 0 has a mask."""

    def read(self, view: View) -> HostArray:
        elements = super().read(view)
        return elements * 0 if view.version == 0 and view.entries.get("mask") else elements
