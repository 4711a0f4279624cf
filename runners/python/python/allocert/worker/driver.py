"""libcuda.so.1, called by the worker itself.

Every call of the worker stands between two markers in the trace, so that nobody takes it for the
subject's.
"""

import contextlib
import ctypes
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from .outcome import DriverError
from .recorder import Recorder, control

#: CUresult.
_NOT_INITIALIZED, _NOT_FOUND = 3, 500
#: CUpointer_attribute, CUmemorytype and flags of cuMemHostAlloc.
MEMORY_TYPE, IPC_CAPABLE, RANGE_START, RANGE_SIZE = 2, 10, 11, 12
_HOST = 1
_HOST_FLAGS = {"portable": 1, "write_combined": 4}

#: The environment variable of each driver setting that a case may change.
_SETTINGS = {
    "devices": "ALLOCERT_DEVICES",
    "memory_bytes": "ALLOCERT_MEMORY_BYTES",
    "version": "ALLOCERT_DRIVER_VERSION",
    "peer_access": "ALLOCERT_PEER_ACCESS",
}


class Driver:
    """The driver API, the controls of the software driver, and the recorder of the trace."""

    def __init__(self) -> None:
        """Loads the library and initializes nothing. Raises OSError if there is none."""
        self._lib = ctypes.CDLL("libcuda.so.1")
        self.recorder = Recorder(self._lib)
        self._fault_add = control(
            self._lib,
            "allocert_fault_add",
            ctypes.c_char_p,
            ctypes.c_uint64,
            ctypes.c_uint64,
            ctypes.c_int32,
            returns=ctypes.c_int,
        )
        self._fault_clear = control(self._lib, "allocert_fault_clear")
        self._restart = control(self._lib, "allocert_driver_restart", returns=ctypes.c_int)

    def harness(self) -> AbstractContextManager[None]:
        """Around driver calls of the worker."""
        return self.recorder.harness()

    def fault_add(self, call: str, nth: int, count: int, error: int) -> None:
        """Makes `count` calls of a function fail with a CUresult, from the `nth` one on.

        `call` is the exact name of a symbol, or the name that every version of it shares. Raises
        DriverError if the driver has no such function.
        """
        code = self._fault_add(call.encode(), nth, count, error)
        if code == _NOT_FOUND:
            code = self._fault_add(f"{call}_v2".encode(), nth, count, error)
        if code != 0:
            raise DriverError(f"allocert_fault_add({call})", code)

    def fault_clear(self) -> None:
        """Forgets all faults."""
        self._fault_clear()

    def restart(self, settings: Mapping[str, int]) -> None:
        """Makes the driver as it is when a process starts, with these settings of a case."""
        for name, variable in _SETTINGS.items():
            # Empty means the driver's default, whatever the harness was started with.
            chosen = settings.get(name)
            os.environ[variable] = "" if chosen is None else str(int(chosen))
        code = self._restart()
        if code != 0:
            raise DriverError("allocert_driver_restart", code)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a driver function with ctypes values. Raises DriverError if it fails."""
        code = self.code(name, *arguments)
        if code != 0:
            raise DriverError(name, code)

    def code(self, name: str, *arguments: Any) -> int:
        """Calls a driver function with ctypes values. Returns its CUresult."""
        code: int = getattr(self._lib, name)(*arguments)
        return code

    def initialize(self) -> None:
        """Calls cuInit."""
        with self.harness():
            self.call("cuInit", ctypes.c_uint(0))

    def initialized(self) -> bool:
        """Whether this process called cuInit."""
        count = ctypes.c_int()
        with self.harness():
            return self.code("cuDeviceGetCount", ctypes.byref(count)) != _NOT_INITIALIZED

    def primary_context(self, device: int) -> int:
        """The CUcontext of a device that its libraries share. It is retained once more."""
        context = ctypes.c_void_p()
        with self.harness():
            self.call("cuInit", ctypes.c_uint(0))
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(device))
        return context.value or 0

    def current(self) -> int:
        """The CUcontext that is current on the calling thread, 0 for none."""
        context = ctypes.c_void_p()
        with self.harness():
            code = self.code("cuCtxGetCurrent", ctypes.byref(context))
        return 0 if code == _NOT_INITIALIZED else context.value or 0

    def set_current(self, handle: int) -> None:
        """Makes a CUcontext (0: none) the calling thread's current one."""
        with self.harness():
            self.call("cuCtxSetCurrent", ctypes.c_void_p(handle))

    @contextlib.contextmanager
    def current_kept(self) -> Iterator[None]:
        """After its block the same context is current as before, whatever happens inside."""
        before = self.current()
        try:
            yield
        finally:
            self.set_current(before)

    def fill(self, pointer: int, byte: int, size_bytes: int) -> None:
        """Sets device memory to a byte."""
        with self.harness():
            self.call(
                "cuMemsetD8_v2",
                ctypes.c_uint64(pointer),
                ctypes.c_ubyte(byte),
                ctypes.c_size_t(size_bytes),
            )

    def read(self, pointer: int, size_bytes: int) -> bytes:
        """Copies device memory to the host."""
        buffer = ctypes.create_string_buffer(size_bytes)
        with self.harness():
            self.call(
                "cuMemcpyDtoH_v2", buffer, ctypes.c_uint64(pointer), ctypes.c_size_t(size_bytes)
            )
        return buffer.raw

    def host_flags(self, pointer: int) -> dict[str, bool | None]:
        """Whether this host memory is portable and write-combined, by the driver's word.

        None if the driver neither allocated nor registered it.
        """
        flags = ctypes.c_uint()
        with self.harness():
            code = self.code("cuMemHostGetFlags", ctypes.byref(flags), ctypes.c_void_p(pointer))
        return {
            name: bool(flags.value & bit) if code == 0 else None
            for name, bit in _HOST_FLAGS.items()
        }

    def owns_host_memory(self, pointer: int, size_bytes: int) -> bool:
        """Whether the driver allocated or registered all of this host memory.

        Only then it is safe to touch it.
        """
        with self.harness():
            kind = self.pointer_attribute(MEMORY_TYPE, ctypes.c_uint, pointer)
            start = self.pointer_attribute(RANGE_START, ctypes.c_uint64, pointer)
            length = self.pointer_attribute(RANGE_SIZE, ctypes.c_size_t, pointer)
        if kind != _HOST or start is None or length is None:
            return False
        return start <= pointer and pointer + size_bytes <= start + length

    def can_share(self, pointer: int) -> bool:
        """Whether the driver makes an IPC handle for memory of this kind, or does not say."""
        with self.harness():
            return self.pointer_attribute(IPC_CAPABLE, ctypes.c_uint, pointer) != 0

    def pointer_attribute(self, attribute: int, cls: Any, pointer: int) -> int | None:
        """What the driver knows of an address, as a number of this class of ctypes."""
        out = cls()
        code = self.code(
            "cuPointerGetAttribute",
            ctypes.byref(out),
            ctypes.c_int(attribute),
            ctypes.c_uint64(pointer),
        )
        value: int = out.value
        return value if code == 0 else None
