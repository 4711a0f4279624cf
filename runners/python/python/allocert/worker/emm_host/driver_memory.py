"""Memory of the worker's plugin, taken from the driver directly.

The plugin makes all calls here between markers of the harness.
"""

import ctypes
from typing import Any

from ..driver import Driver
from ..outcome import DriverError

#: The flags of cuMemHostAlloc and cuMemHostRegister.
PORTABLE, MAPPED, WRITE_COMBINED = 1, 2, 4
_REGISTER_MAPPED = 2
#: CUresults of a free that is not needed: it succeeded, or the driver or the context are gone.
_RELEASED = (0, 4, 201, 709)


class Block:
    """One allocation or pinned region, which goes back to the driver once."""

    def __init__(self, driver: Driver, address: int, free_call: str, argument: Any) -> None:
        """`free_call` with this argument, a ctypes value, gives it back."""
        self._driver, self.address = driver, address
        self._free_call, self._argument = free_call, argument
        self.live = True

    def release(self) -> None:
        """Gives it back; later calls do nothing. Raises DriverError."""
        if not self.live:
            return
        self.live = False
        code = self._driver.code(self._free_call, self._argument)
        if code not in _RELEASED:
            raise DriverError(self._free_call, code)


def allocate(driver: Driver, size_bytes: int) -> Block:
    """Device memory. A plugin may serve a request for no bytes; the driver does not."""
    pointer = ctypes.c_uint64()
    driver.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(size_bytes, 1)))
    return Block(driver, pointer.value, "cuMemFree_v2", pointer)


def allocate_host(driver: Driver, size_bytes: int, flags: int) -> Block:
    """Page-locked host memory."""
    pointer, length = ctypes.c_void_p(), ctypes.c_size_t(max(size_bytes, 1))
    driver.call("cuMemHostAlloc", ctypes.byref(pointer), length, ctypes.c_uint(flags))
    return Block(driver, pointer.value or 0, "cuMemFreeHost", pointer)


def pin(driver: Driver, address: int, size_bytes: int, mapped: bool) -> Block:
    """Page-locks host memory that exists."""
    pointer, flags = ctypes.c_void_p(address), _REGISTER_MAPPED if mapped else 0
    length = ctypes.c_size_t(size_bytes)
    driver.call("cuMemHostRegister_v2", pointer, length, ctypes.c_uint(flags))
    return Block(driver, address, "cuMemHostUnregister", pointer)


def base(driver: Driver, address: int) -> int:
    """The first address of the allocation that an address lies in."""
    start, size = ctypes.c_uint64(), ctypes.c_size_t()
    driver.call(
        "cuMemGetAddressRange_v2", ctypes.byref(start), ctypes.byref(size), ctypes.c_uint64(address)
    )
    return start.value


def ipc_handle(driver: Driver, address: int) -> bytes:
    """The 64 bytes of a CUipcMemHandle."""
    handle = ctypes.create_string_buffer(64)
    driver.call("cuIpcGetMemHandle", handle, ctypes.c_uint64(address))
    return handle.raw


def current_context(driver: Driver) -> int:
    """The CUcontext that is current on this thread; 0 for none."""
    context = ctypes.c_void_p()
    driver.call("cuCtxGetCurrent", ctypes.byref(context))
    return context.value or 0
