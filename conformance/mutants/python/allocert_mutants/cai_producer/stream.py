"""Producers whose exported stream does not cover the pending work."""

import ctypes
import threading
from typing import Any, ClassVar

from allocert_mutants.cuda_driver import (
    LEGACY,
    PER_THREAD,
    Event,
    Memory,
    Stream,
    Work,
    call,
    copy_rows,
)

from .conforming_producer import Array, Entry, adapter


@adapter
class StreamIsObject(Array):
    """Exports a stream object instead of a handle."""

    def stream_entry(self) -> Entry:
        super().stream_entry()
        return self.exported_streams[-1] if self.exported_streams else self.stream


@adapter
class DefaultStreamZero(Array):
    """Exports 0 as the default stream."""

    def stream_entry(self) -> Entry:
        handle = super().stream_entry() or (self.stream and self.stream.handle)
        return 0 if handle == LEGACY else handle


@adapter
class DefaultStreamsSwapped(Array):
    """Exports 1 for the per-thread default stream and 2 for the legacy one."""

    def stream_entry(self) -> Entry:
        handle = super().stream_entry()
        return {LEGACY: PER_THREAD, PER_THREAD: LEGACY}.get(handle, handle)


@adapter
class StreamHandleInvalid(Array):
    """Exports an index into a table of its own as the stream."""

    def stream_entry(self) -> Entry:
        return 7 if super().stream_entry() else None


@adapter
class AlwaysOwnStream(Array):
    """Exports the array's own stream, whichever stream the work is in."""

    def stream_entry(self) -> Entry:
        return self.stream.handle if self.stream else super().stream_entry()


@adapter
class LastStreamOnly(Array):
    """Exports the stream of the latest work only."""

    def pending_work(self) -> list[Work]:
        return self.memory.work[-1:]


@adapter
class StreamWaitsForNothing(Array):
    """Exports a stream that waits for none of the pending work."""

    def joined_stream(self, work: list[Work]) -> Stream:
        return Stream()


@adapter
class NeverExportsStream(Array):
    """Always exports None as the stream, as libraries with that option do by default."""

    def stream_entry(self) -> Entry:
        return None


@adapter
class StreamCached(Array):
    """Exports the stream of the first reading at every later one."""

    def stream_entry(self) -> Entry:
        if not hasattr(self, "first"):
            self.first = super().stream_entry()
        return self.first


@adapter
class IgnoresPendingReads(Array):
    """Exports no stream for pending reads."""

    def pending_work(self) -> list[Work]:
        return [work for work in self.memory.work if work.writes]


@adapter
class IgnoresWorkOfViews(Array):
    """Exports no stream for work that was enqueued through another view."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.own_work: list[Work] = []

    def record_work(self, work: Work) -> None:
        super().record_work(work)
        self.own_work.append(work)

    def pending_work(self) -> list[Work]:
        return self.own_work


@adapter
class IgnoresDefaultStream(Array):
    """Exports no stream for work in the default stream, as if it were finished."""

    def pending_work(self) -> list[Work]:
        return [work for work in self.memory.work if work.stream.handle != LEGACY]


@adapter
class Version2WithoutStream(Array):
    """Exports version 2 even while work is pending. The text allows it; the suite reports it."""

    def version(self) -> Entry:
        return 2

    def interface(self) -> Any:
        entries = super().interface()
        del entries["stream"]
        return entries


@adapter
class StreamInVersion2(Array):
    """Exports a stream in version 2."""

    def version(self) -> Entry:
        return 2


@adapter
class SecondReadClearsData(Array):
    """Clears the data when the attribute is read a second time."""

    reads = 0

    def interface(self) -> Any:
        self.reads += 1
        if self.reads > 1:
            zeros = bytes(self.memory.size_bytes)
            call(
                "cuMemcpyHtoD_v2",
                ctypes.c_uint64(self.memory.base),
                zeros,
                ctypes.c_size_t(len(zeros)),
            )
        return super().interface()


class HidesPendingWork(Array):
    """Exports None as the stream after a call that waits for none of the pending work."""

    def stream_entry(self) -> Entry:
        if self.pending_work():
            self.hide()
        return None

    def hide(self) -> None:
        raise NotImplementedError


@adapter
class HidesBehindFreeOfNothing(HidesPendingWork):
    """Exports no stream after it has freed the address 0, which waits for nothing."""

    def hide(self) -> None:
        call("cuMemFree_v2", ctypes.c_uint64(0))


@adapter
class HidesBehindFreeOfPoolMemory(HidesPendingWork):
    """Exports no stream after it has freed memory of a pool, which waits for nothing."""

    def hide(self) -> None:
        stream, address = Stream(), ctypes.c_uint64()
        size = ctypes.c_size_t(64)
        call("cuMemAllocAsync", ctypes.byref(address), size, ctypes.c_void_p(stream.handle))
        call("cuStreamSynchronize", ctypes.c_void_p(stream.handle))
        call("cuMemFree_v2", address)


@adapter
class HidesBehindUnrecordedEvent(HidesPendingWork):
    """Exports no stream after the legacy stream waits for an event that was never recorded."""

    def hide(self) -> None:
        event = ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(2))
        call("cuStreamWaitEvent", ctypes.c_void_p(LEGACY), event, ctypes.c_uint(0))
        call("cuEventDestroy_v2", event)


@adapter
class HidesBehindPeerCopy(HidesPendingWork):
    """Exports no stream after a copy between peers, which the host does not wait for."""

    def hide(self) -> None:
        context = ctypes.c_void_p()
        call("cuCtxGetCurrent", ctypes.byref(context))
        self.scratch = Memory("device", 128)
        to, source = ctypes.c_uint64(self.scratch.base), ctypes.c_uint64(self.scratch.base + 64)
        call("cuMemcpyPeer", to, context, source, context, ctypes.c_size_t(64))


@adapter
class HidesBehindCopyOfRows(HidesPendingWork):
    """Exports no stream after a 2D copy in the stream, which the host does not wait for."""

    def hide(self) -> None:
        pitch_bytes = 64
        self.scratch = Memory("device", 4 * pitch_bytes)
        source, target = self.scratch.base, self.scratch.base + 2 * pitch_bytes
        for work in self.pending_work():
            copy_rows(source, target, pitch_bytes, 16, 2, work.stream)


@adapter
class RaisesForOtherStreams(Array):
    """Raises when the attribute is read while work is pending in another stream than its own."""

    def stream_entry(self) -> Entry:
        if any(work.stream is not self.stream for work in self.pending_work()):
            raise RuntimeError("the work is in another stream")
        return super().stream_entry()


@adapter
class StaleEvents(Array):
    """Waits for the first work of each stream only."""

    def joined_stream(self, work: list[Work]) -> Stream:
        first: dict[int | None, Work] = {}
        for one in work:
            first.setdefault(one.stream.handle, one)
        return super().joined_stream(list(first.values()))

    def stream_entry(self) -> Entry:
        work = self.pending_work()
        if self.stream is None or all(one.stream is self.stream for one in work):
            return super().stream_entry()
        return self.export_stream(self.joined_stream(work))


@adapter
class IgnoresThreads(Array):
    """Exports 2 for work in the per-thread default stream of any thread."""

    def stream_entry(self) -> Entry:
        work = self.pending_work()
        per_thread = [one for one in work if one.stream.handle == PER_THREAD]
        return PER_THREAD if per_thread and len(per_thread) == len(work) else super().stream_entry()


@adapter
class NotesWorkOfEachThread(Array):
    """Exports no stream for work that another thread enqueued."""

    def pending_work(self) -> list[Work]:
        this_thread = threading.get_ident()
        return [work for work in self.memory.work if work.thread == this_thread]


@adapter
class KnowsWorkOfOneThread(Array):
    """Overlooks the work of other threads than the one that made the array."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.thread = threading.get_ident()

    def pending_work(self) -> list[Work]:
        return [work for work in self.memory.work if work.thread == self.thread]


@adapter
class KnowsWorkOnOneThread(Array):
    """Exports no stream on other threads than the one that made the array."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.thread = threading.get_ident()

    def pending_work(self) -> list[Work]:
        return self.memory.work if threading.get_ident() == self.thread else []


@adapter
class OneEventForAllWork(Array):
    """Has one event, and records it in the stream of each work in turn.

    The exported stream waits for the last record alone.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.event: Event | None = None

    def record_work(self, work: Work) -> None:
        super().record_work(work)
        self.event = self.event or work.event
        self.event.record(work.stream)

    def joined_stream(self, work: list[Work]) -> Stream:
        stream = Stream()
        if self.event:
            stream.wait(self.event)
        return stream


@adapter
class ForgetsExportedWork(Array):
    """Takes work for finished when an export has named a stream for it."""

    exported = 0

    def interface(self) -> Any:
        entries = super().interface()
        self.exported = len(self.memory.work)
        return entries

    def pending_work(self) -> list[Work]:
        return self.memory.work[self.exported :]


@adapter
class NotesWorkOfEachContext(Array):
    """Exports no stream for work that was enqueued while another context was current."""

    contexts: ClassVar[dict[Work, int]] = {}

    def record_work(self, work: Work) -> None:
        super().record_work(work)
        self.contexts[work] = _current_context()

    def pending_work(self) -> list[Work]:
        current = _current_context()
        return [work for work in self.memory.work if self.contexts[work] == current]


def _current_context() -> int:
    context = ctypes.c_void_p()
    call("cuCtxGetCurrent", ctypes.byref(context))
    return context.value or 0


class _NotesDevices(Array):
    """An array that notes which device is current when work is enqueued."""

    devices: ClassVar[dict[Work, int]] = {}

    def record_work(self, work: Work) -> None:
        super().record_work(work)
        self.devices[work] = _current_device()

    def pending_work(self) -> list[Work]:
        device = self.looked_at()
        return [work for work in self.memory.work if self.devices[work] == device]

    def looked_at(self) -> int:
        raise NotImplementedError


@adapter
class ExportsWorkOfFirstDevice(_NotesDevices):
    """Exports no stream for work on arrays of another device than the first."""

    def looked_at(self) -> int:
        return 0


@adapter
class ExportsWorkOfCurrentDevice(_NotesDevices):
    """Exports no stream for work on arrays of another device than the current one."""

    def looked_at(self) -> int:
        return _current_device()


def _current_device() -> int:
    device = ctypes.c_int()
    call("cuCtxGetDevice", ctypes.byref(device))
    return device.value


@adapter
class JoinsByFirstUse(Array):
    """Joins the stream whose first work came last; at its first work it waited for the others."""

    def enqueue(self, stream: Stream | None, *more: Any) -> None:
        stream = stream or self.stream or Stream(LEGACY)
        if all(one.stream is not stream for one in self.memory.work):
            for one in self.memory.work:
                stream.wait(one.event)
        super().enqueue(stream, *more)

    def joined_stream(self, work: list[Work]) -> Stream:
        latest = list(dict.fromkeys(one.stream for one in work))[-1]
        return super().joined_stream([one for one in work if one.stream is latest])
