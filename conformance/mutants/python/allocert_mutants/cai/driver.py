"""The driver as a small library uses it: memory, streams, events. Every call raises when it fails."""

import ctypes
import threading
import weakref

LEGACY, PER_THREAD = 1, 2
_NON_BLOCKING, _NO_TIMING, _ATTACH_GLOBAL, _MAPPED = 1, 2, 1, 2
_cuda = ctypes.CDLL("libcuda.so.1")


class CallError(RuntimeError):
    def __init__(self, name, code):
        super().__init__(f"{name} answered {code}")
        self.code = code


def call(name, *arguments):
    code = getattr(_cuda, name)(*arguments)
    if code != 0:
        raise CallError(name, code)


def quietly(name, *arguments):
    """For finalizers, which have nobody to tell."""
    getattr(_cuda, name)(*arguments)


class Stream:
    """A stream; one that was made here ends with its object."""

    def __init__(self, handle=None):
        if handle is None:
            made = ctypes.c_void_p()
            call("cuStreamCreate", ctypes.byref(made), ctypes.c_uint(_NON_BLOCKING))
            handle = made.value
            weakref.finalize(
                self, quietly, "cuStreamDestroy_v2", ctypes.c_void_p(handle)
            ).atexit = False
        self.handle = handle

    def wait(self, event):
        call("cuStreamWaitEvent", ctypes.c_void_p(self.handle), event.handle, ctypes.c_uint(0))


class Event:
    """All that is in a stream now."""

    def __init__(self, stream):
        self.handle = ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(self.handle), ctypes.c_uint(_NO_TIMING))
        weakref.finalize(self, quietly, "cuEventDestroy_v2", self.handle).atexit = False
        call("cuEventRecord", self.handle, ctypes.c_void_p(stream.handle))


class Work:
    """Work on a range of addresses that may not have ended."""

    def __init__(self, stream, start, end, writes):
        self.stream, self.start, self.end, self.writes = stream, start, end, writes
        self.thread, self.event = threading.get_ident(), Event(stream)

    def conflicts(self, start, end, writes):
        return start < self.end and self.start < end and (writes or self.writes)

    def named_here(self):
        """Whether the stream's handle means the same stream to this thread."""
        return self.stream.handle != PER_THREAD or self.thread == threading.get_ident()


class Memory:
    """An allocation, and the work that was put on it. It is given back when all of that has ended."""

    def __init__(self, kind, size_bytes):
        #: `scratch` is other memory that the work uses.
        self.size_bytes, self.work, self.scratch = size_bytes, [], []
        self.base, free, address = _allocate(kind, max(size_bytes, 1))
        weakref.finalize(self, _release, self.work, free, address).atexit = False


def _allocate(kind, size):
    if kind in ("device", "managed"):
        base, size = ctypes.c_uint64(), ctypes.c_size_t(size)
        if kind == "device":
            call("cuMemAlloc_v2", ctypes.byref(base), size)
        else:
            call("cuMemAllocManaged", ctypes.byref(base), size, ctypes.c_uint(_ATTACH_GLOBAL))
        return base.value, "cuMemFree_v2", base
    host, base = ctypes.c_void_p(), ctypes.c_uint64()
    call(
        "cuMemHostAlloc",
        ctypes.byref(host),
        ctypes.c_size_t(size),
        ctypes.c_uint(_MAPPED if kind == "mapped" else 0),
    )
    call("cuMemHostGetDevicePointer_v2", ctypes.byref(base), host, ctypes.c_uint(0))
    return base.value, "cuMemFreeHost", host


def _release(work, free, address):
    for one in work:
        quietly("cuEventSynchronize", one.event.handle)
    quietly(free, address)
