"""Consumers that free, use or read memory that is not theirs."""

import ctypes
import weakref
from typing import Any, ClassVar

from allocert_mutants.cuda_driver import call_without_check

from .conforming_consumer import Consumer, Entries, HostArray, View, fill


class FreesProducersMemory(Consumer):
    """Frees the producer's memory with its view."""

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        weakref.finalize(view, call_without_check, "cuMemFree_v2", ctypes.c_uint64(view.pointer))
        return view


class DestroysExportedStream(Consumer):
    """Destroys the exported stream with its view."""

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        if view.stream is not None and view.stream > 2:
            handle = ctypes.c_void_p(view.stream)
            weakref.finalize(view, call_without_check, "cuStreamDestroy_v2", handle)
        return view


class WritesAfterFree(Consumer):
    """Writes to memory that it does not keep alive, at the end of its view."""

    def owner_to_keep(self, exporter: Any) -> Any:
        return None

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        view = super().accept(exporter, ignore_stream)
        return ClearsAtEnd(self, view)

    def describe(self, view: Any) -> dict[str, Any]:
        return super().describe(view.view)

    def read(self, view: Any) -> HostArray:
        return super().read(getattr(view, "view", view))


class ClearsAtEnd:
    """A view that clears its first element when it is deleted."""

    def __init__(self, consumer: Consumer, view: View) -> None:
        self.consumer, self.view = consumer, view

    def __del__(self) -> None:
        if self.view.pointer:
            fill(self.view.pointer, 0, self.view.dtype.itemsize, self.consumer.own_stream)


class Crashes(Consumer):
    """Reads address 0."""

    def check_addresses(self, view: View) -> None:
        if not view.pointer:
            ctypes.string_at(0)


class KeepsOwnerUntilFirstRead(Consumer):
    """Lets the producer's object go when it has read the data once."""

    def read(self, view: View) -> HostArray:
        elements = super().read(view)
        view.owner = None
        return elements


class SynchronizesAtEnd(Consumer):
    """Keeps no owner, and synchronizes with the exported stream at the end of its view."""

    keeps_owner = False

    def owner_to_keep(self, exporter: Any) -> Any:
        return None

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        if view.stream is not None:
            handle = ctypes.c_void_p(view.stream)
            weakref.finalize(view, call_without_check, "cuStreamSynchronize", handle)
        return view


class KeepsOwnersForEver(Consumer):
    """Keeps every producer's object alive."""

    owners: ClassVar[list[Any]] = []

    def owner_to_keep(self, exporter: Any) -> Any:
        self.owners.append(exporter)
        return exporter


class KeepsOwnersWithStream(Consumer):
    """Keeps every producer's object alive that exports a stream, for the sake of the stream."""

    owners: ClassVar[list[Any]] = []

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        if view.stream is not None:
            self.owners.append(exporter)
        return view
