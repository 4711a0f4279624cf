"""Libraries whose exported stream does not cover the work that is pending."""

import ctypes

from .driver import LEGACY, PER_THREAD, Stream, call
from .producer import Array, library


@library
class NeverNames(Array):
    """Always None: an option that is the default."""

    def exported(self):
        return None


@library
class OwnStream(Array):
    """Names the array's own stream, wherever the work is."""

    def exported(self):
        return self.stream.handle if self.stream else super().exported()


@library
class LastStream(Array):
    """Names the stream that the last work went to."""

    def pending(self):
        return self.memory.work[-1:]


@library
class RemembersStream(Array):
    """Answers every reading with the stream of the first."""

    def exported(self):
        if not hasattr(self, "first"):
            self.first = super().exported()
        return self.first


@library
class ReadsDoNotCount(Array):
    """Takes only writes for work on the data."""

    def pending(self):
        return [work for work in self.memory.work if work.writes]


@library
class ViewsForget(Array):
    """Work is known to the array through which it was enqueued, and to no other."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.mine = []

    def note(self, work):
        super().note(work)
        self.mine.append(work)

    def pending(self):
        return self.mine


@library
class DefaultForgotten(Array):
    """Takes work in the default stream for finished, as users of one stream may."""

    def pending(self):
        return [work for work in self.memory.work if work.stream.handle != LEGACY]


@library
class NotJoined(Array):
    """Names a stream that waits for none of the streams with work."""

    def joined(self, work):
        return Stream()


@library
class ZeroStream(Array):
    """Calls the default stream 0."""

    def exported(self):
        handle = super().exported() or (self.stream and self.stream.handle)
        return 0 if handle == LEGACY else handle


@library
class StreamObject(Array):
    """The stream is an object."""

    def exported(self):
        super().exported()
        return self.named or self.stream


@library
class Swapped(Array):
    """Takes 1 for the per-thread default stream and 2 for the legacy one."""

    def exported(self):
        handle = super().exported()
        return {LEGACY: PER_THREAD, PER_THREAD: LEGACY}.get(handle, handle)


@library
class NoSuchStream(Array):
    """Exports the number of a stream in a table of its own."""

    def exported(self):
        return 7 if super().exported() else None


@library
class EarlierVersion(Array):
    """Exports version 2 whatever is pending: no breach of the text, and told all the same."""

    def version(self):
        return 2

    def interface(self):
        entries = super().interface()
        del entries["stream"]
        return entries


@library
class EarlyStream(Array):
    """Names a stream in version 2."""

    def version(self):
        return 2


@library
class Clears(Array):
    """Clears the data when the attribute is read for a second time."""

    reads = 0

    def interface(self):
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


@library
class OtherContext(Array):
    """Joins work in a stream of the second device."""

    def exported(self):
        if super().exported() is None or _devices() < 2:
            return None
        self.named = _stream_of_second_device()
        return self.named.handle


def _devices():
    count = ctypes.c_int()
    call("cuDeviceGetCount", ctypes.byref(count))
    return count.value


def _stream_of_second_device():
    context = ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(1))
    call("cuCtxPushCurrent_v2", context)
    try:
        return Stream()
    finally:
        call("cuCtxPopCurrent_v2", ctypes.byref(context))
