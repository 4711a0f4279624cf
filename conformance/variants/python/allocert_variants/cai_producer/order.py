"""Producers that order pending work in other ways than the reference."""

import ctypes
from typing import Any

from allocert_mutants.cai_producer.conforming_producer import Array, Entry, Producer, adapter
from allocert_mutants.cuda_driver import LEGACY, Stream, Work, call


@adapter
class SynchronizesAtExport(Array):
    """Waits for all pending work when the attribute is read, and exports no stream."""

    def stream_entry(self) -> Entry:
        for work in self.pending_work():
            call("cuEventSynchronize", work.event.handle)
        return None


@adapter
class AlwaysJoins(Array):
    """Exports a stream without work of its own, which waits for all pending work."""

    def stream_entry(self) -> Entry:
        # One stream for all readings: an earlier dictionary still names it.
        if self.exported_stream is None:
            self.exported_stream = Stream()
        for work in self.pending_work():
            self.exported_stream.wait(work.event)
        return self.exported_stream.handle


@adapter
class StreamOfOtherDevice(Array):
    """Exports a stream of the second device, which waits for the pending work."""

    def joined_stream(self, work: list[Any]) -> Stream:
        stream = _stream_of_second_device()
        for one in work:
            stream.wait(one.event)
        return stream

    def stream_entry(self) -> Entry:
        if super().stream_entry() is None or _device_count() < 2:
            return super().stream_entry()
        self.exported_stream = self.joined_stream(self.pending_work())
        return self.exported_stream.handle


def _device_count() -> int:
    count = ctypes.c_int()
    call("cuDeviceGetCount", ctypes.byref(count))
    return count.value


def _stream_of_second_device() -> Stream:
    if _device_count() < 2:
        return Stream()
    context = ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(1))
    call("cuCtxPushCurrent_v2", context)
    try:
        return Stream()
    finally:
        call("cuCtxPopCurrent_v2", ctypes.byref(context))


class UserOrdersStreams(Producer):
    """Documents that its users order work in other streams than the array's own."""

    def write(self, array: Array, stream: Stream | None, byte: int) -> None:
        _decline_other_streams(array, stream)
        super().write(array, stream, byte)

    def read(self, array: Array, stream: Stream | None) -> None:
        _decline_other_streams(array, stream)
        super().read(array, stream)


def _decline_other_streams(array: Array, stream: Stream | None) -> None:
    if stream is not None and stream is not array.stream:
        raise NotImplementedError("the documentation asks users to order such work themselves")


class _ImmutableArray(Array):
    def data(self) -> Entry:
        return self.pointer(), True


class NeverWrites(Producer):
    """Makes arrays that nobody may write."""

    array_class = _ImmutableArray
    immutable = True

    def write(self, array: Array, stream: Stream | None, byte: int) -> None:
        raise NotImplementedError("the arrays cannot be written")


@adapter
class WaitsAtOnce(Array):
    """Waits for its work before it returns, so that nothing is ever pending."""

    def record_work(self, work: Work) -> None:
        call("cuEventSynchronize", work.event.handle)

    def stream_entry(self) -> Entry:
        return None


@adapter
class LegacyStreamFollowsAll(Array):
    """Exports the legacy stream, which waits for all pending work."""

    def joined_stream(self, work: list[Any]) -> Stream:
        legacy = Stream(LEGACY)
        for one in work:
            legacy.wait(one.event)
        return legacy

    def stream_entry(self) -> Entry:
        work = self.pending_work()
        return self.joined_stream(work).handle if work else None
