"""Consumers that order their work wrongly with the exported stream."""

import contextlib
import ctypes
import math
import threading
import weakref
from typing import Any

from allocert_mutants.cuda_driver import (
    LEGACY,
    CallError,
    Event,
    Memory,
    Stream,
    call,
    call_without_check,
    copy_rows,
)

from .conforming_consumer import Consumer, Entries, View, fill
from .offset_helpers import byte_range, offsets


class NeedsStream(Consumer):
    """Refuses a dictionary without a stream."""

    def stream_entry(self, entries: Entries) -> int | None:
        return super().stream_entry({"stream": entries["stream"]})


class IgnoresDefaultStreams(Consumer):
    """Does not wait for the streams 1 and 2."""

    def stream_entry(self, entries: Entries) -> int | None:
        stream = super().stream_entry(entries)
        return None if stream in (1, 2) else stream


class RefusesOtherStreams(Consumer):
    """Refuses every stream but 1 and 2."""

    def stream_entry(self, entries: Entries) -> int | None:
        stream = super().stream_entry(entries)
        if stream is not None and stream > 2:
            raise LookupError(f"no such stream: {stream}")
        return stream


class NeverWaits(Consumer):
    """Does not wait for the exported stream."""

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        return own or self.own_stream


class IgnoresStreamByDefault(Consumer):
    """Ignores the exported stream unless it is told otherwise."""

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        return super().accept(exporter, True)


class WaitsForFirstArgumentOnly(Consumer):
    """Waits only for the stream of the first argument."""

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        return own if index else self.wait_for_producer(view, own)


class FirstProducerWaitsOnly(Consumer):
    """Makes only the producer of the first argument wait for a launch."""

    def __init__(self) -> None:
        super().__init__()
        self.later_arguments: weakref.WeakSet[View] = weakref.WeakSet()

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        if index:
            self.later_arguments.add(view)
        return super().wait_for_argument(index, view, own)

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if view not in self.later_arguments:
            super().make_producer_wait(view, own)


class MiddleProducerNeverWaits(Consumer):
    """Makes the producers of the first and the last argument wait for a launch, and no other."""

    def __init__(self) -> None:
        super().__init__()
        self.arguments = 0
        self.between: View | None = None

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        self.arguments = len(exporters)
        return super().launch(exporters, stream)

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        self.between = view if 0 < index < self.arguments - 1 else None
        return super().wait_for_argument(index, view, own)

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if view is not self.between:
            super().make_producer_wait(view, own)


class NoBackEdgeFromUsersStream(Consumer):
    """Makes the producer wait for its own stream, also if the user chose another one."""

    def make_producer_wait(self, view: View, own: Stream) -> None:
        super().make_producer_wait(view, self.own_stream)


class BackEdgesForWritesOnly(Consumer):
    """Makes the producer wait only for operations that write."""

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if not view.read_only:
            super().make_producer_wait(view, own)


class NoBackEdgeFromCopyOfRows(Consumer):
    """Reads by a copy of rows, and does not make the producer wait for it."""

    def copy(self, view: View, own: Stream) -> None:
        if not math.prod(view.shape):
            return
        low, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        size_bytes = high - low
        self.scratch.append(Memory("device", size_bytes))
        source, target = view.pointer + low, self.scratch[-1].base
        copy_rows(source, target, size_bytes, size_bytes, 1, own)


class WorksOnCurrentStream(Consumer):
    """Works on the current stream, the legacy one by default, and ignores the exported one."""

    def __init__(self) -> None:
        super().__init__()
        self._own_stream = Stream(LEGACY)

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        return own or self.own_stream


class ProducerNeverWaits(Consumer):
    """Does not make the producer wait for its own work, and returns before that is finished."""

    def make_producer_wait(self, view: View, own: Stream) -> None:
        pass


class OrdersFirstOperationOnly(Consumer):
    """Orders only the first operation on a view."""

    def __init__(self) -> None:
        super().__init__()
        self.ordered: weakref.WeakSet[View] = weakref.WeakSet()

    def uses_stream(self, view: View) -> bool:
        return super().uses_stream(view) and view not in self.ordered

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if view not in self.ordered:
            super().make_producer_wait(view, own)
        self.ordered.add(view)


class CachesLaunchArguments(Consumer):
    """Reads the attribute of an argument at its first launch only."""

    def __init__(self) -> None:
        super().__init__()
        self.views: dict[Any, View] = {}

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        new = [exporter for exporter in exporters if exporter not in self.views]
        super().launch(new, stream)
        self.views.update(
            (exporter, self.view(exporter, self.entries(exporter))) for exporter in new
        )
        for exporter in exporters:
            if exporter not in new:
                self.fill(self.views[exporter], 0, self.own_stream)
        return [self.describe(self.views[exporter]) for exporter in exporters]


class ReusesEventOfStream(Consumer):
    """Records an event in each exported stream at its first use, and waits for that ever after."""

    def __init__(self) -> None:
        super().__init__()
        self.events: dict[int, Event] = {}

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        own = own or self.own_stream
        if self.uses_stream(view) and view.stream is not None:
            event = self.events.get(view.stream)
            self.events[view.stream] = event or Event(Stream(view.stream))
            own.wait(self.events[view.stream])
        return own


class ReusesEventForImports(ReusesEventOfStream):
    """Waits for the same event whenever it works on an import, and for a new one in a launch."""

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        return Consumer.wait_for_producer(self, view, own)


class RecordsEventTooEarly(Consumer):
    """Makes the producer wait for all work on a view but the last."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        places = list(offsets(view.shape, view.strides))
        for number, offset in enumerate(places, 1):
            if number == len(places):
                self.make_producer_wait(view, own)
            fill(view.pointer + offset, byte, view.dtype.itemsize, own)


class OneEventForAllProducers(Consumer):
    """Records one event in the stream of each argument in turn, and waits for it once.

    The wait is for the last record alone.
    """

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        views = [self.accept(exporter, False) for exporter in exporters]
        own, event = stream or self.own_stream, None
        for producer in [Stream(view.stream) for view in views if self.uses_stream(view)]:
            event = event or Event(producer)
            event.record(producer)
        if event:
            own.wait(event)
        for view in views:
            if view.read_only:
                self.copy(view, own)
            else:
                self.fill(view, 0, own)
        return [self.describe(view) for view in views]


class StreamForEachArgument(Consumer):
    """Works on each argument of a launch in another stream. Conforms."""

    def __init__(self) -> None:
        super().__init__()
        self.in_launch = False

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        views = [self.accept(exporter, False) for exporter in exporters]
        streams = [stream or Stream() for _ in views]
        self.in_launch = True
        for view, own in zip(views, streams, strict=True):
            self.wait_for_producer(view, own)
            if view.read_only:
                self.copy(view, own)
            else:
                self.fill(view, 0, own)
        self.in_launch = False
        self.make_producers_wait(views, streams)
        return [self.describe(view) for view in views]

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if not self.in_launch:
            super().make_producer_wait(view, own)

    def make_producers_wait(self, views: list[View], streams: list[Stream]) -> None:
        for view, own in zip(views, streams, strict=True):
            self.make_producer_wait(view, own)


class OneEventForAllWork(StreamForEachArgument):
    """Records one event in each of its streams in turn. The producers wait for the last record."""

    def make_producers_wait(self, views: list[View], streams: list[Stream]) -> None:
        if not all(self.uses_stream(view) for view in views):
            super().make_producers_wait(views, streams)
            return
        event = Event(streams[0])
        for own in streams[1:]:
            event.record(own)
        for view in views:
            Stream(view.stream).wait(event)


class NewThreadsNeverWait(Consumer):
    """Has a stream for each thread. In a launch only that of the first thread waits."""

    def __init__(self) -> None:
        super().__init__()
        self.first_thread = threading.get_ident()

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        is_first = threading.get_ident() == self.first_thread
        return super().launch(exporters, stream if stream or is_first else Stream())

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        is_first = threading.get_ident() == self.first_thread
        super().wait_for_argument(index, view, own if is_first else self.own_stream)
        return own


class WaitsInFirstStream(Consumer):
    """Waits in the stream that was its current one at first, and works in the current one."""

    def __init__(self) -> None:
        super().__init__()
        self.first_stream = self.own_stream

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        super().wait_for_producer(view, self.first_stream)
        return own or self.own_stream


class BackEdgeFromFirstStream(Consumer):
    """Makes the producer wait for the stream that was its current one at first."""

    def __init__(self) -> None:
        super().__init__()
        self.first_stream = self.own_stream

    def make_producer_wait(self, view: View, own: Stream) -> None:
        super().make_producer_wait(view, self.first_stream if own is self.own_stream else own)


class WaitsInStreamOfThread(Consumer):
    """Has a stream for each thread, and lets only that of the importing thread wait."""

    def __init__(self) -> None:
        super().__init__()
        self.streams = threading.local()

    def stream_of_thread(self) -> Stream:
        if not hasattr(self.streams, "own"):
            self.streams.own = Stream()
        own: Stream = self.streams.own
        return own

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        super().wait_for_producer(view, self.stream_of_thread())
        return view

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        return self.stream_of_thread()


class IgnoresThreads(Consumer):
    """Takes stream 2 for that of the thread that uses an import."""

    def settle_per_thread(self, view: View) -> None:
        pass


class OverlooksErrorOfWait(Consumer):
    """Goes on without waiting when an event cannot be recorded in the exported stream."""

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        own = own or self.own_stream
        try:
            return super().wait_for_producer(view, own)
        except CallError:
            return own

    def make_producer_wait(self, view: View, own: Stream) -> None:
        with contextlib.suppress(CallError):
            super().make_producer_wait(view, own)


class OverlooksStreamsOfOtherDevices(Consumer):
    """Orders nothing with a stream of another device than the current one."""

    def uses_stream(self, view: View) -> bool:
        return super().uses_stream(view) and device_of(view.stream) == device_of(LEGACY)


def device_of(stream: int | None) -> int:
    """The device of a stream; of the legacy stream, the current device."""
    context, device, ignored = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_void_p()
    call("cuStreamGetCtx", ctypes.c_void_p(stream), ctypes.byref(context))
    call("cuCtxPushCurrent_v2", context)
    call("cuCtxGetDevice", ctypes.byref(device))
    call("cuCtxPopCurrent_v2", ctypes.byref(ignored))
    return device.value


class WaitsOncePerAddress(Consumer):
    """Waits for one of the arguments of a launch that begin at the same address."""

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        self.addresses: set[int] = set()
        return super().launch(exporters, stream)

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        if view.pointer in self.addresses:
            return own
        self.addresses.add(view.pointer)
        return super().wait_for_argument(index, view, own)


class OneBackEdgePerAddress(StreamForEachArgument):
    """Makes one producer wait of the arguments of a launch that begin at the same address."""

    def make_producers_wait(self, views: list[View], streams: list[Stream]) -> None:
        for own in streams[1:]:
            streams[0].wait(Event(own))
        addresses: set[int] = set()
        for view in views:
            if view.pointer not in addresses:
                self.make_producer_wait(view, streams[0])
            addresses.add(view.pointer)


class EmptyArgumentEndsWaiting(Consumer):
    """Waits for no argument that comes after one without elements."""

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        self.found_empty = False
        return super().launch(exporters, stream)

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        self.found_empty = self.found_empty or 0 in view.shape
        return own if self.found_empty else super().wait_for_argument(index, view, own)


class UsesDestroyedStream(Consumer):
    """Synchronizes with a stream that it has destroyed."""

    def view(self, exporter: Any, entries: Entries) -> View:
        handle = ctypes.c_void_p(Stream().handle)
        call_without_check("cuStreamSynchronize", handle)
        return super().view(exporter, entries)
