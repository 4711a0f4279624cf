"""The device as the worker uses it.

Every call stands between markers of the harness in the trace. Nothing waits for more than its
docstring says: a synchronous copy would order streams that no case asked to be ordered.
"""

import contextlib
import ctypes
import functools
import mmap
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .driver import MEMORY_TYPE, RANGE_SIZE, RANGE_START, Driver
from .operations import Facts

LEGACY, PER_THREAD = 1, 2
#: Bytes behind every allocation that the subject does not know of.
_EXTRA_BYTES = 4096
_NON_BLOCKING = 1
_DISABLE_TIMING = 2
_ATTACH_GLOBAL = 1
_DEVICE_MAP = 2
#: CUpointer_attribute and CUmemorytype.
_CONTEXT, _MANAGED, _ORDINAL = 1, 8, 9
_TYPES = {1: "host", 2: "device"}


class Stream:
    """A stream of the worker, destroyed when nothing refers to it any more."""

    def __init__(self, handle: int, destroy: Callable[[int], None] | None = None) -> None:
        self.handle = handle
        if destroy is not None:
            weakref.finalize(self, destroy, handle).atexit = False


class Memory:
    """Memory of the worker: `base` is its device address, `host` the host's or None.

    The allocation begins `offset_bytes` in front of it.
    """

    def __init__(
        self, base: int, size_bytes: int, host: int | None, free: Callable[[], None] | None
    ) -> None:
        self.base, self.size_bytes, self.host = base, size_bytes, host
        self.offset_bytes = 0
        self._free = free

    def skip(self, offset_bytes: int) -> None:
        """Leaves out bytes at the start."""
        self.base += offset_bytes
        self.size_bytes -= offset_bytes
        self.offset_bytes += offset_bytes
        if self.host is not None:
            self.host += offset_bytes

    @property
    def allocation(self) -> int:
        """The device address at which the allocation begins."""
        return self.base - self.offset_bytes

    def free(self, instead: Callable[[], None] | None = None) -> None:
        """Frees it, by the function `instead` if one is given. Later calls do nothing."""
        free, self._free = self._free, None
        if free is not None:
            (instead or free)()


class Device:
    """Streams, memory and copies by driver calls on the context that is current.

    Where the subject left none current, they are on the context that the thread attached last.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._own: Stream | None = None
        self._threads = threading.local()

    def attach(self, context: int) -> None:
        """Makes a CUcontext (0: none) current on this thread, and remembers it."""
        self._threads.attached = context
        self._driver.set_current(context)

    def restore_context(self) -> None:
        """Makes the attached context current if none is."""
        if self._attached and not self._driver.current():
            # If that fails, the next call that needs a context says so.
            with self._driver.harness():
                self._driver.code("cuCtxSetCurrent", ctypes.c_void_p(self._attached))

    @property
    def _attached(self) -> int:
        attached: int = getattr(self._threads, "attached", 0)
        return attached

    @contextlib.contextmanager
    def _calls(self, otherwise: int | None = None) -> Iterator[None]:
        """Around driver calls of the worker. A context is current, `otherwise` if none was.

        Without `otherwise` that is the attached one. Afterwards none is current again: the subject
        may be in the middle of a call while one of the worker's objects dies.
        """
        context = ctypes.c_void_p(self._attached if otherwise is None else otherwise)
        with self._driver.harness():
            needed = context and not self._driver.current()
            if not needed or self._driver.code("cuCtxPushCurrent_v2", context):
                yield
                return
            try:
                yield
            finally:
                self._driver.code("cuCtxPopCurrent_v2", ctypes.byref(context))

    def stream(self, kind: str) -> Stream:
        """A stream: `legacy`, `per_thread`, `blocking` or `non_blocking`."""
        if kind in ("legacy", "per_thread"):
            return Stream(LEGACY if kind == "legacy" else PER_THREAD)
        handle = ctypes.c_void_p()
        flags = _NON_BLOCKING if kind == "non_blocking" else 0
        self._call("cuStreamCreate", ctypes.byref(handle), ctypes.c_uint(flags))
        return Stream(handle.value or 0, functools.partial(self._destroy, self._attached))

    def in_second_context(self, make: Callable[[], Stream]) -> Stream:
        """What `make` makes in a second context of the current device, which is never destroyed."""
        device, context = ctypes.c_int(), ctypes.c_void_p()
        with self._calls():
            self._driver.call("cuCtxGetDevice", ctypes.byref(device))
            self._driver.call("cuCtxCreate_v2", ctypes.byref(context), ctypes.c_uint(0), device)
            try:
                return make()
            finally:
                self._driver.call("cuCtxPopCurrent_v2", ctypes.byref(context))

    def _destroy(self, context: int, handle: int) -> None:
        with self._calls(context):
            self._driver.code("cuStreamDestroy_v2", ctypes.c_void_p(handle))

    @property
    def own(self) -> Stream:
        """The stream of the worker's copies. It waits for nothing by itself."""
        if self._own is None:
            self._own = self.stream("non_blocking")
        return self._own

    def synchronize(self, handle: int) -> None:
        """Waits for one stream."""
        self._call("cuStreamSynchronize", ctypes.c_void_p(handle))

    def synchronize_all(self) -> None:
        """Waits for all work of the context."""
        self._call("cuCtxSynchronize")

    def order(self, first: int, then: int) -> None:
        """Lets later work on the stream `then` wait for all work that is on `first` now."""
        event = ctypes.c_void_p()
        with self._calls():
            # An event is of one context, and a stream takes only those of its own.
            with self._in_context_of(first):
                flags = ctypes.c_uint(_DISABLE_TIMING)
                self._driver.call("cuEventCreate", ctypes.byref(event), flags)
            try:
                self._driver.call("cuEventRecord", event, ctypes.c_void_p(first))
                self._driver.call(
                    "cuStreamWaitEvent", ctypes.c_void_p(then), event, ctypes.c_uint(0)
                )
            finally:
                self._driver.code("cuEventDestroy_v2", event)

    @contextlib.contextmanager
    def _in_context_of(self, handle: int) -> Iterator[None]:
        """Within `_calls`: the context of a stream is current."""
        context = ctypes.c_void_p()
        self._driver.call("cuStreamGetCtx", ctypes.c_void_p(handle), ctypes.byref(context))
        self._driver.call("cuCtxPushCurrent_v2", context)
        try:
            yield
        finally:
            self._driver.code("cuCtxPopCurrent_v2", ctypes.byref(context))

    def stream_flags(self, handle: int) -> int | None:
        """The flags of a stream, or None if the driver knows no such stream."""
        flags = ctypes.c_uint()
        with self._calls():
            code = self._driver.code(
                "cuStreamGetFlags", ctypes.c_void_p(handle), ctypes.byref(flags)
            )
        return flags.value if code == 0 else None

    def stream_context(self, handle: int) -> int | None:
        """The context of a stream, or None if the driver knows no such stream."""
        context = ctypes.c_void_p()
        with self._calls():
            code = self._driver.code(
                "cuStreamGetCtx", ctypes.c_void_p(handle), ctypes.byref(context)
            )
        return context.value if code == 0 else None

    def allocate(self, kind: str, size_bytes: int) -> Memory:
        """Allocates memory: `device`, `managed`, `mapped`, `pool`, `host`, or `none` at all.

        Extra bytes follow it: a consumer that reads too far reads something else, and no error of
        the driver passes for a refusal.
        """
        allocated_bytes = size_bytes + _EXTRA_BYTES
        if kind == "none":
            return Memory(0, 0, None, None)
        if kind == "host":
            pages = mmap.mmap(-1, allocated_bytes)
            address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
            return Memory(address, size_bytes, address, functools.partial(_drop, pages))
        if kind == "mapped":
            return self._mapped(allocated_bytes, size_bytes)
        base = ctypes.c_uint64()
        length = ctypes.c_size_t(allocated_bytes)
        if kind == "pool":
            own = self.own.handle
            self._call("cuMemAllocAsync", ctypes.byref(base), length, ctypes.c_void_p(own))
            self.synchronize(own)
        elif kind == "managed":
            flags = ctypes.c_uint(_ATTACH_GLOBAL)
            self._call("cuMemAllocManaged", ctypes.byref(base), length, flags)
        else:
            self._call("cuMemAlloc_v2", ctypes.byref(base), length)
        return self._memory(base, size_bytes, None, "cuMemFree_v2", base)

    def _mapped(self, allocated_bytes: int, size_bytes: int) -> Memory:
        host, base = ctypes.c_void_p(), ctypes.c_uint64()
        length, flags = ctypes.c_size_t(allocated_bytes), ctypes.c_uint(_DEVICE_MAP)
        self._call("cuMemHostAlloc", ctypes.byref(host), length, flags)
        self._call("cuMemHostGetDevicePointer_v2", ctypes.byref(base), host, ctypes.c_uint(0))
        return self._memory(base, size_bytes, host.value, "cuMemFreeHost", host)

    def _memory(
        self, base: ctypes.c_uint64, size_bytes: int, host: int | None, call: str, address: Any
    ) -> Memory:
        free = functools.partial(self._free, self._attached, call, address)
        return Memory(base.value, size_bytes, host, free)

    def _free(self, context: int, call: str, address: Any) -> None:
        with self._calls(context):
            self._driver.code(call, address)

    def free_in_order(self, base: int, handle: int) -> None:
        """Enqueues the free of memory of the pool on a stream."""
        self._call("cuMemFreeAsync", ctypes.c_uint64(base), ctypes.c_void_p(handle))

    def fill(self, pointer: int, byte: int, size_bytes: int, handle: int) -> None:
        """Enqueues a write of the byte on a stream, and does not wait."""
        if size_bytes:
            self._call(
                "cuMemsetD8Async",
                ctypes.c_uint64(pointer),
                ctypes.c_ubyte(byte),
                ctypes.c_size_t(size_bytes),
                ctypes.c_void_p(handle),
            )

    def write(self, pointer: int, data: bytes) -> None:
        """Copies bytes to the device, and waits for that copy alone."""
        if data:
            self._call(
                "cuMemcpyHtoDAsync_v2",
                ctypes.c_uint64(pointer),
                ctypes.create_string_buffer(data, len(data)),
                ctypes.c_size_t(len(data)),
                ctypes.c_void_p(self.own.handle),
            )
            self.synchronize(self.own.handle)

    def read(self, pointer: int, size_bytes: int, handle: int) -> bytes:
        """Copies bytes from the device on a stream, and waits for the stream."""
        if not size_bytes:
            return b""
        buffer = ctypes.create_string_buffer(size_bytes)
        self._call(
            "cuMemcpyDtoHAsync_v2",
            buffer,
            ctypes.c_uint64(pointer),
            ctypes.c_size_t(size_bytes),
            ctypes.c_void_p(handle),
        )
        self.synchronize(handle)
        return buffer.raw

    def memory_at(self, pointer: int) -> Facts:
        """What the driver knows of an address."""
        attribute = self._driver.pointer_attribute
        with self._calls():
            kind = attribute(MEMORY_TYPE, ctypes.c_uint, pointer)
            if kind is None:
                return {"known": False}
            managed = attribute(_MANAGED, ctypes.c_uint, pointer)
            return {
                "known": True,
                "type": "managed" if managed else _TYPES.get(kind, str(kind)),
                "base": attribute(RANGE_START, ctypes.c_uint64, pointer),
                "size_bytes": attribute(RANGE_SIZE, ctypes.c_size_t, pointer),
                "device": attribute(_ORDINAL, ctypes.c_int, pointer),
                "context": attribute(_CONTEXT, ctypes.c_uint64, pointer),
            }

    def _call(self, name: str, *arguments: Any) -> None:
        with self._calls():
            self._driver.call(name, *arguments)


def _drop(_pages: mmap.mmap) -> None:
    """Pages of the host go with the last reference to them, which is this argument."""
