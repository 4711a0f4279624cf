"""The driver as a small library uses it: memory, streams, events. A call that fails raises."""

import ctypes
import threading
import weakref
from typing import Any

LEGACY, PER_THREAD = 1, 2
_DEVICE = 2  # CU_MEMORYTYPE_DEVICE
_NON_BLOCKING, _NO_TIMING, _ATTACH_GLOBAL, _MAPPED = 1, 2, 1, 2
_cuda = ctypes.CDLL("libcuda.so.1")


class CallError(RuntimeError):
    """A driver function returned an error code."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} answered {code}")
        self.code = code


def call(name: str, *arguments: Any) -> None:
    code = getattr(_cuda, name)(*arguments)
    if code != 0:
        raise CallError(name, code)


def call_without_check(name: str, *arguments: Any) -> None:
    """Ignores an error, for finalizers, which cannot raise."""
    getattr(_cuda, name)(*arguments)


class Stream:
    """A stream. One that this class created ends with its object."""

    def __init__(self, handle: int | None = None) -> None:
        if handle is None:
            created = ctypes.c_void_p()
            call("cuStreamCreate", ctypes.byref(created), ctypes.c_uint(_NON_BLOCKING))
            handle = created.value
            weakref.finalize(
                self, call_without_check, "cuStreamDestroy_v2", ctypes.c_void_p(handle)
            ).atexit = False
        self.handle = handle

    def wait(self, event: "Event") -> None:
        call("cuStreamWaitEvent", ctypes.c_void_p(self.handle), event.handle, ctypes.c_uint(0))


class Event:
    """All work that was in a stream when the event was recorded last."""

    def __init__(self, stream: Stream) -> None:
        self.handle = ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(self.handle), ctypes.c_uint(_NO_TIMING))
        weakref.finalize(self, call_without_check, "cuEventDestroy_v2", self.handle).atexit = False
        self.record(stream)

    def record(self, stream: Stream) -> None:
        call("cuEventRecord", self.handle, ctypes.c_void_p(stream.handle))


class Work:
    """Work on a range of addresses that may not be finished."""

    def __init__(self, stream: Stream, start: int, end: int, writes: bool) -> None:
        self.stream, self.start, self.end, self.writes = stream, start, end, writes
        self.thread, self.event = threading.get_ident(), Event(stream)

    def conflicts(self, start: int, end: int, writes: bool) -> bool:
        return start < self.end and self.start < end and (writes or self.writes)

    def stream_is_same_here(self) -> bool:
        """Whether the stream's handle means the same stream to the calling thread."""
        return self.stream.handle != PER_THREAD or self.thread == threading.get_ident()


class Memory:
    """An allocation and the work on it. It is freed when all of that work has finished."""

    def __init__(self, kind: str, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.work: list[Work] = []
        #: Other memory that the work uses.
        self.scratch: list[Memory] = []
        self.base, free, address = _allocate(kind, max(size_bytes, 1))
        weakref.finalize(self, _free_after_work, self.work, free, address).atexit = False

    def wait(self) -> None:
        """Waits on the host for all work on the memory."""
        for one in self.work:
            call("cuEventSynchronize", one.event.handle)


def upload(address: int, source: int, size_bytes: int) -> None:
    """Copies from memory of the host to the device, and waits.

    The copy of a large block alone returns before its last byte has arrived.
    """
    start, host = ctypes.c_uint64(address), ctypes.c_void_p(source)
    call("cuMemcpyHtoD_v2", start, host, ctypes.c_size_t(size_bytes))
    call("cuStreamSynchronize", ctypes.c_void_p(LEGACY))


def enqueue_upload(address: int, source: int, size_bytes: int, stream: Stream) -> None:
    """Copies from memory of the host to the device in the stream, and does not wait."""
    start, host = ctypes.c_uint64(address), ctypes.c_void_p(source)
    handle = ctypes.c_void_p(stream.handle)
    call("cuMemcpyHtoDAsync_v2", start, host, ctypes.c_size_t(size_bytes), handle)


def _allocate(kind: str, size_bytes: int) -> tuple[int, str, Any]:
    """Returns the device address, the function that frees it, and that function's argument."""
    base, size = ctypes.c_uint64(), ctypes.c_size_t(size_bytes)
    if kind == "device":
        call("cuMemAlloc_v2", ctypes.byref(base), size)
        return base.value, "cuMemFree_v2", base
    if kind == "managed":
        call("cuMemAllocManaged", ctypes.byref(base), size, ctypes.c_uint(_ATTACH_GLOBAL))
        return base.value, "cuMemFree_v2", base
    host = ctypes.c_void_p()
    flags = ctypes.c_uint(_MAPPED if kind == "mapped" else 0)
    call("cuMemHostAlloc", ctypes.byref(host), size, flags)
    call("cuMemHostGetDevicePointer_v2", ctypes.byref(base), host, ctypes.c_uint(0))
    return base.value, "cuMemFreeHost", host


def _free_after_work(work: list[Work], free: str, address: Any) -> None:
    for one in work:
        call_without_check("cuEventSynchronize", one.event.handle)
    call_without_check(free, address)


class _Copy2D(ctypes.Structure):
    """`CUDA_MEMCPY2D`."""

    _fields_ = [
        (f"{side}_{name}", kind)
        for side in ("source", "target")
        for name, kind in (
            ("x_bytes", ctypes.c_size_t),
            ("y", ctypes.c_size_t),
            ("memory_type", ctypes.c_uint),
            ("host", ctypes.c_void_p),
            ("device", ctypes.c_uint64),
            ("array", ctypes.c_void_p),
            ("pitch", ctypes.c_size_t),
        )
    ] + [("width_bytes", ctypes.c_size_t), ("height", ctypes.c_size_t)]


def copy_rows(
    source: int, target: int, pitch_bytes: int, width_bytes: int, height: int, stream: Stream
) -> None:
    """Enqueues a copy of rows from device memory to device memory."""
    copy = _Copy2D(
        source_memory_type=_DEVICE,
        source_device=source,
        source_pitch=pitch_bytes,
        target_memory_type=_DEVICE,
        target_device=target,
        target_pitch=pitch_bytes,
        width_bytes=width_bytes,
        height=height,
    )
    call("cuMemcpy2DAsync_v2", ctypes.byref(copy), ctypes.c_void_p(stream.handle))
