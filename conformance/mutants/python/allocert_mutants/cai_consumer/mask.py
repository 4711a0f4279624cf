"""Consumers that treat the mask wrongly."""

import time
from typing import Any, ClassVar

import numpy

from allocert_mutants.cuda_driver import Stream

from .conforming_consumer import Consumer, Entries, HostArray, View
from .offset_helpers import Integers


class NoneMasksEverything(Consumer):
    """Treats a mask of None as one in which nothing is valid."""

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        if "mask" in entries and entries["mask"] is None:
            view.valid = numpy.zeros(view.shape, bool)
        return view


class IgnoresMask(Consumer):
    """Ignores the mask."""

    def mask(self, entries: Entries) -> Any:
        return None


class InvertsMask(Consumer):
    """Takes elements for valid whose mask is not true."""

    def is_true(self, elements: HostArray) -> Any:
        return elements == 0


class MaskTrueIs1(Consumer):
    """Treats only mask elements equal to 1 as true."""

    def is_true(self, elements: HostArray) -> Any:
        return elements == 1


class FollowsMaskForEver(Consumer):
    """Never returns when a mask is its own mask."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        while mask is exporter:
            time.sleep(0.01)
        return super().validity(exporter, mask, shape)


class FillsUpMask(Consumer):
    """Takes elements for valid that a mask of another shape does not reach."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        try:
            return super().validity(exporter, mask, shape)
        except ValueError:
            return numpy.ones(shape, bool)


class IgnoresStreamOfMask(Consumer):
    """Does not wait for the stream of a mask."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        view = self.view(mask, {**self.entries(mask), "stream": None})
        return numpy.broadcast_to(self.is_true(self.read(view)), shape)


class WaitsForDataInsteadOfMask(Consumer):
    """Takes the stream of the data for that of the mask too."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        entries = {**self.entries(mask), "stream": self.entries(exporter).get("stream")}
        elements = self.read(self.view(mask, entries))
        return numpy.broadcast_to(self.is_true(elements), shape)


class WaitsForMaskInsteadOfData(Consumer):
    """Takes the stream of a mask for that of the data too."""

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        if view.valid is not None:
            view.stream = self.entries(entries["mask"]).get("stream")
        return view


class IgnoresStreamOfStridedMask(Consumer):
    """Does not wait for the stream of a mask that has gaps or is reversed."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        entries = self.entries(mask)
        if entries.get("strides") is None:
            return super().validity(exporter, mask, shape)
        view = self.view(mask, {**entries, "stream": None})
        return numpy.broadcast_to(self.is_true(self.read(view)), shape)


class CopiesMaskWithoutBackEdge(Consumer):
    """Copies the mask on the device too, and does not make its producer wait for that."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        valid = super().validity(exporter, mask, shape)
        view = self.view(mask, self.entries(mask))
        self.copies_mask = True
        self.copy(view, self.wait_for_producer(view))
        self.copies_mask = False
        return valid

    copies_mask = False

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if not self.copies_mask:
            super().make_producer_wait(view, own)


class RemembersMasks(Consumer):
    """Reads a mask once, and takes one at the same address for the same mask."""

    masks: ClassVar[dict[tuple[int, Integers], HostArray]] = {}

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        if mask is exporter or not hasattr(mask, "__cuda_array_interface__"):
            return super().validity(exporter, mask, shape)
        key = (self.data(self.entries(mask))[0], shape)
        if key not in self.masks:
            self.masks[key] = super().validity(exporter, mask, shape)
        return self.masks[key]


class FillsMaskInFlatOrder(Consumer):
    """Repeats the elements of a mask until there are as many as the data have."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        super().validity(exporter, mask, shape)
        return numpy.resize(self.is_true(self.read(self.view(mask, self.entries(mask)))), shape)


class IgnoresStridesOfMask(Consumer):
    """Reads every mask as contiguous."""

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        super().validity(exporter, mask, shape)
        view = self.view(mask, {**self.entries(mask), "strides": None})
        return numpy.broadcast_to(self.is_true(self.read(view)), shape)


class IgnoresMasksBeforeVersion3(Consumer):
    """Ignores masks before version 3."""

    def mask(self, entries: Entries) -> Any:
        return super().mask(entries) if entries["version"] >= 3 else None
