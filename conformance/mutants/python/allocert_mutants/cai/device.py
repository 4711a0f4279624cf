"""libcuda.so.1 as a small library would call it."""

import ctypes
import weakref

_lib = ctypes.CDLL("libcuda.so.1")
LEGACY, PER_THREAD = 1, 2
_NON_BLOCKING, _GLOBAL, _DEVICE_MAP, _NO_TIMING = 1, 1, 2, 2


class CudaError(RuntimeError):
    def __init__(self, name, code):
        super().__init__(f"{name} answered {code}")
        self.code = code


def call(name, *arguments):
    code = getattr(_lib, name)(*arguments)
    if code:
        raise CudaError(name, code)


class Stream:
    def __init__(self, handle=None):
        self.handle = handle
        if handle is None:
            made = ctypes.c_void_p()
            call("cuStreamCreate", ctypes.byref(made), ctypes.c_uint(_NON_BLOCKING))
            self.handle = made.value
            weakref.finalize(self, call, "cuStreamDestroy_v2", made).atexit = False

    def synchronize(self):
        call("cuStreamSynchronize", ctypes.c_void_p(self.handle))


def order(first, then):
    """What is put on the stream `then` from now on comes after what is on `first`; both are handles."""
    event = ctypes.c_void_p()
    call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(_NO_TIMING))
    try:
        call("cuEventRecord", event, ctypes.c_void_p(first))
        call("cuStreamWaitEvent", ctypes.c_void_p(then), event, ctypes.c_uint(0))
    finally:
        call("cuEventDestroy_v2", event)


class Memory:
    """An allocation, and the streams with work on it that nobody has waited for."""

    def __init__(self, kind, size_bytes):
        self.base, self.size_bytes, self.pending = 0, size_bytes, []
        if size_bytes:
            self._allocate(kind, ctypes.c_size_t(size_bytes))

    def _allocate(self, kind, size):
        base, host = ctypes.c_uint64(), ctypes.c_void_p()
        if kind == "device":
            call("cuMemAlloc_v2", ctypes.byref(base), size)
        elif kind == "managed":
            call("cuMemAllocManaged", ctypes.byref(base), size, ctypes.c_uint(_GLOBAL))
        elif kind == "mapped":
            call("cuMemHostAlloc", ctypes.byref(host), size, ctypes.c_uint(_DEVICE_MAP))
            call("cuMemHostGetDevicePointer_v2", ctypes.byref(base), host, ctypes.c_uint(0))
        else:
            raise NotImplementedError(f"no {kind} memory")
        self.base = base.value
        free = ("cuMemFreeHost", host) if host.value else ("cuMemFree_v2", base)
        weakref.finalize(self, call, *free).atexit = False

    def works(self, stream):
        """Work is put on this stream."""
        if stream not in self.pending:
            self.pending.append(stream)


def fill(pointer, byte, size_bytes, handle):
    if size_bytes:
        stream = ctypes.c_void_p(handle)
        call("cuMemsetD8Async", ctypes.c_uint64(pointer), ctypes.c_ubyte(byte), ctypes.c_size_t(size_bytes), stream)


def write(pointer, data, stream):
    """Copies bytes to the device and waits for it."""
    if data:
        source = ctypes.create_string_buffer(data, len(data))
        size, handle = ctypes.c_size_t(len(data)), ctypes.c_void_p(stream.handle)
        call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(pointer), source, size, handle)
        stream.synchronize()


def read(pointer, size_bytes, handle):
    """Enqueues a copy to the host, which is there when the stream is synchronized."""
    target = ctypes.create_string_buffer(max(size_bytes, 1))
    if size_bytes:
        size, stream = ctypes.c_size_t(size_bytes), ctypes.c_void_p(handle)
        call("cuMemcpyDtoHAsync_v2", target, ctypes.c_uint64(pointer), size, stream)
    return target


def copy(target, source, size_bytes, handle):
    if size_bytes:
        size, stream = ctypes.c_size_t(size_bytes), ctypes.c_void_p(handle)
        call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(target), ctypes.c_uint64(source), size, stream)
