"""Producers that order pending work in other ways than the reference."""

import ctypes
import weakref
from typing import Any

from allocert_mutants.cai_producer.conforming_producer import Array, Entry, Producer, adapter
from allocert_mutants.cuda_driver import LEGACY, PER_THREAD, Memory, Stream, Work, call

from .. import kernel
from ..current_context import leaves_no_context_current


@adapter
class SynchronizesAtExport(Array):
    """Waits for all pending work when the attribute is read, and exports no stream."""

    def stream_entry(self) -> Entry:
        for work in self.pending_work():
            call("cuEventSynchronize", work.event.handle)
        return None


@adapter
class SynchronizesStrided(Array):
    """Waits at the export of an array with gaps, and exports a stream for all others."""

    def stream_entry(self) -> Entry:
        if self.host_array.flags.c_contiguous:
            return super().stream_entry()
        self.memory.wait()
        return None


@adapter
class OneStreamForDataAndMask(Array):
    """Exports a stream for the data that waits for work on the mask too."""

    def pending_work(self) -> list[Work]:
        of_mask = self.mask.pending_work() if self.mask is not None else []
        return super().pending_work() + of_mask


class CopiesMasks(Producer):
    """Copies the mask of an array when the array is made."""

    def array(self, spec: Any) -> Array:
        if spec.mask is not None:
            spec.mask = self.copy_to_device(spec.mask.host_array)
        return super().array(spec)


@adapter
class AlwaysJoins(Array):
    """Exports a stream without work of its own, which waits for all pending work."""

    def stream_entry(self) -> Entry:
        # One stream for all readings: an earlier dictionary still names it.
        stream = self.exported_streams[0] if self.exported_streams else Stream()
        for work in self.pending_work():
            stream.wait(work.event)
        return self.export_stream(stream)


@adapter
class Timeline(Array):
    """Has one stream for the memory, which waits for each work right after it, and exports that."""

    def record_work(self, work: Work) -> None:
        super().record_work(work)
        _timelines.setdefault(self.memory, Stream()).wait(work.event)

    def stream_entry(self) -> Entry:
        timeline = _timelines.get(self.memory)
        return self.export_stream(timeline) if timeline else None


_timelines: weakref.WeakKeyDictionary[Memory, Stream] = weakref.WeakKeyDictionary()


@adapter
class StreamOfOtherDevice(Array):
    """Exports a stream of the second device, which waits for the pending work."""

    def new_stream(self) -> Stream:
        return _stream_of_second_device()

    def stream_entry(self) -> Entry:
        if super().stream_entry() is None or _device_count() < 2:
            return super().stream_entry()
        return self.export_stream(self.joined_stream(self.pending_work()))


@adapter
class StreamOfSecondContext(Array):
    """Exports a stream of a second context, which waits for the pending work."""

    def new_stream(self) -> Stream:
        return _stream_of_second_context()

    def stream_entry(self) -> Entry:
        work = self.pending_work()
        return self.export_stream(self.joined_stream(work)) if work else None


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
    return _stream_of_current_context()


def _stream_of_second_context() -> Stream:
    # The context is current when it is made.
    call("cuCtxCreate_v2", ctypes.byref(ctypes.c_void_p()), ctypes.c_uint(0), ctypes.c_int(0))
    return _stream_of_current_context()


def _stream_of_current_context() -> Stream:
    """A stream of the context that is current. Afterwards the one before is current again."""
    try:
        return Stream()
    finally:
        call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


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


@leaves_no_context_current("interface")
class _ArrayWithoutContext(Array):
    """An array whose attribute leaves no context current."""


@leaves_no_context_current("stream", "array", "view", "write", "read")
class LeavesNoContext(Producer):
    """Leaves no context current after each call."""

    array_class = _ArrayWithoutContext


@adapter
class PerThreadStreamFollowsAll(Array):
    """Exports the stream 2 of the thread that reads the attribute, which waits for all work."""

    def stream_entry(self) -> Entry:
        work = self.pending_work()
        stream = Stream(PER_THREAD)
        for one in work:
            stream.wait(one.event)
        return PER_THREAD if work else None


class ReadsByKernel(Producer):
    """Reads an array with a kernel, which writes nothing."""

    def read(self, array: Array, stream: Stream | None) -> None:
        def launch(start: int, _size: int, handle: ctypes.c_void_p) -> None:
            kernel.launch(handle, start)

        if array.host_array.size > 0:
            array.enqueue(stream, False, launch)
