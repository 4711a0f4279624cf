"""The device as the worker uses it. Every call stands between harness marks, and nothing waits for more than it says: a
synchronous copy would order streams that nobody asked to be ordered."""

import ctypes
import mmap
import weakref

LEGACY, PER_THREAD = 1, 2
#: Bytes that every allocation has and nobody is told of.
ROOM = 4096
_NON_BLOCKING = 1
_CONTEXT, _MEMORY_TYPE, _MANAGED, _ORDINAL, _RANGE_START, _RANGE_SIZE = 1, 2, 8, 9, 11, 12
_TYPES = {1: "host", 2: "device"}
_ATTACH_GLOBAL = 1
_DEVICE_MAP = 2


class Stream:
    """A stream of the worker, destroyed when nothing refers to it any more."""

    def __init__(self, handle, destroy=None):
        self.handle = handle
        if destroy is not None:
            weakref.finalize(self, destroy, handle).atexit = False


class Memory:
    """An allocation of the worker: `base` is its device address, `host` the host's or None."""

    def __init__(self, base, size_bytes, host, free):
        self.base, self.size_bytes, self.host = base, size_bytes, host
        self._free = free

    def free(self, otherwise=None):
        """Once, by another way if one is given; the second time does nothing."""
        free, self._free = self._free, None
        if free is not None:
            (otherwise or free)()


class Device:
    def __init__(self, driver):
        self._driver = driver
        self._own = None

    # -- streams
    # -----------------------------------------------------------------------------------------------------

    def stream(self, kind):
        if kind in ("legacy", "per_thread"):
            return Stream(LEGACY if kind == "legacy" else PER_THREAD)
        handle = ctypes.c_void_p()
        flags = _NON_BLOCKING if kind == "non_blocking" else 0
        with self._driver.harness():
            self._driver.call("cuStreamCreate", ctypes.byref(handle), ctypes.c_uint(flags))
        return Stream(handle.value, self._destroy)

    def _destroy(self, handle):
        with self._driver.harness():
            self._driver.code("cuStreamDestroy_v2", ctypes.c_void_p(handle))

    @property
    def own(self):
        """A stream of the worker's that waits for nothing by itself."""
        if self._own is None:
            self._own = self.stream("non_blocking")
        return self._own

    def synchronize(self, handle):
        self._do("cuStreamSynchronize", ctypes.c_void_p(handle))

    def synchronize_all(self):
        self._do("cuCtxSynchronize")

    def order(self, first, then):
        """What is enqueued on `then` from now on waits for all that is on `first` already. Both are handles."""
        event = ctypes.c_void_p()
        with self._driver.harness():
            self._driver.call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(2))
            try:
                self._driver.call("cuEventRecord", event, ctypes.c_void_p(first))
                self._driver.call(
                    "cuStreamWaitEvent", ctypes.c_void_p(then), event, ctypes.c_uint(0)
                )
            finally:
                self._driver.code("cuEventDestroy_v2", event)

    def stream_flags(self, handle):
        """The flags of a stream, or None where the driver knows no such stream."""
        flags = ctypes.c_uint()
        with self._driver.harness():
            code = self._driver.code(
                "cuStreamGetFlags", ctypes.c_void_p(handle), ctypes.byref(flags)
            )
        return flags.value if code == 0 else None

    def stream_context(self, handle):
        """The context of a stream, or None where the driver knows no such stream."""
        context = ctypes.c_void_p()
        with self._driver.harness():
            code = self._driver.code(
                "cuStreamGetCtx", ctypes.c_void_p(handle), ctypes.byref(context)
            )
        return context.value if code == 0 else None

    # -- memory
    # ------------------------------------------------------------------------------------------------------

    def allocate(self, kind, size_bytes):
        """With room behind it: who reads too far reads something else, and gets no error that would pass for a refusal."""
        size = size_bytes + ROOM
        if kind == "none":
            return Memory(0, 0, None, None)
        if kind == "host":
            pages = mmap.mmap(-1, size)
            address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
            return Memory(address, size_bytes, address, lambda: pages and None)
        if kind == "pool":
            return self._pooled(size, size_bytes)
        return (
            self._mapped(size, size_bytes)
            if kind == "mapped"
            else self._device(kind, size, size_bytes)
        )

    def _pooled(self, size, size_bytes):
        base, own = ctypes.c_uint64(), self.own.handle
        self._do("cuMemAllocAsync", ctypes.byref(base), ctypes.c_size_t(size), ctypes.c_void_p(own))
        self.synchronize(own)
        return Memory(
            base.value,
            size_bytes,
            None,
            lambda: self._free("cuMemFree_v2", ctypes.c_uint64(base.value)),
        )

    def free_in_order(self, base, handle):
        self._do("cuMemFreeAsync", ctypes.c_uint64(base), ctypes.c_void_p(handle))

    def _device(self, kind, size, size_bytes):
        base = ctypes.c_uint64()
        if kind == "managed":
            self._do(
                "cuMemAllocManaged",
                ctypes.byref(base),
                ctypes.c_size_t(size),
                ctypes.c_uint(_ATTACH_GLOBAL),
            )
        else:
            self._do("cuMemAlloc_v2", ctypes.byref(base), ctypes.c_size_t(size))
        return Memory(
            base.value,
            size_bytes,
            None,
            lambda: self._free("cuMemFree_v2", ctypes.c_uint64(base.value)),
        )

    def _mapped(self, size, size_bytes):
        host, base = ctypes.c_void_p(), ctypes.c_uint64()
        self._do(
            "cuMemHostAlloc", ctypes.byref(host), ctypes.c_size_t(size), ctypes.c_uint(_DEVICE_MAP)
        )
        self._do("cuMemHostGetDevicePointer_v2", ctypes.byref(base), host, ctypes.c_uint(0))
        return Memory(base.value, size_bytes, host.value, lambda: self._free("cuMemFreeHost", host))

    def _free(self, call, address):
        with self._driver.harness():
            self._driver.code(call, address)

    def fill(self, pointer, byte, size_bytes, handle):
        """Enqueues a write of the byte, and does not wait."""
        if size_bytes:
            size = ctypes.c_size_t(size_bytes)
            self._do(
                "cuMemsetD8Async",
                ctypes.c_uint64(pointer),
                ctypes.c_ubyte(byte),
                size,
                ctypes.c_void_p(handle),
            )

    def write(self, pointer, data):
        """Copies bytes there, and waits for that alone."""
        if data:
            source, own = (
                ctypes.create_string_buffer(data, len(data)),
                ctypes.c_void_p(self.own.handle),
            )
            self._do(
                "cuMemcpyHtoDAsync_v2",
                ctypes.c_uint64(pointer),
                source,
                ctypes.c_size_t(len(data)),
                own,
            )
            self.synchronize(self.own.handle)

    def read(self, pointer, size_bytes, handle):
        """Copies bytes from there on this stream, and waits for the stream."""
        if not size_bytes:
            return b""
        buffer = ctypes.create_string_buffer(size_bytes)
        stream = ctypes.c_void_p(handle)
        self._do(
            "cuMemcpyDtoHAsync_v2",
            buffer,
            ctypes.c_uint64(pointer),
            ctypes.c_size_t(size_bytes),
            stream,
        )
        self.synchronize(handle)
        return buffer.raw

    def memory_at(self, pointer):
        """What the driver knows of an address."""
        with self._driver.harness():
            kind = self._attribute(_MEMORY_TYPE, ctypes.c_uint, pointer)
            if kind is None:
                return {"known": False}
            managed = self._attribute(_MANAGED, ctypes.c_uint, pointer)
            return {
                "known": True,
                "type": "managed" if managed else _TYPES.get(kind, str(kind)),
                "base": self._attribute(_RANGE_START, ctypes.c_uint64, pointer),
                "size_bytes": self._attribute(_RANGE_SIZE, ctypes.c_size_t, pointer),
                "device": self._attribute(_ORDINAL, ctypes.c_int, pointer),
                "context": self._attribute(_CONTEXT, ctypes.c_uint64, pointer),
            }

    def _attribute(self, attribute, of_type, pointer):
        out = of_type()
        code = self._driver.code(
            "cuPointerGetAttribute",
            ctypes.byref(out),
            ctypes.c_int(attribute),
            ctypes.c_uint64(pointer),
        )
        return out.value if code == 0 else None

    def _do(self, name, *arguments):
        with self._driver.harness():
            self._driver.call(name, *arguments)
