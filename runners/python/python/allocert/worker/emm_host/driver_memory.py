"""Memory of the plugin, through the driver alone. All calls here are made between marks of the harness."""

import ctypes

from ..outcome import DriverError

DEVICE, PINNED, REGION = "device", "host", "region"
#: memhostalloc's flags as cuMemHostAlloc has them.
PORTABLE, MAPPED, WRITE_COMBINED = 1, 2, 4
_REGISTER_MAPPED = 2
#: Given back already: with the driver, or with its context.
GONE = (0, 4, 201, 709)


class Block:
    """One allocation or pinned region, which the driver is given back once."""

    def __init__(self, driver, kind, address):
        self._driver, self.kind, self.address = driver, kind, address
        self.live = True

    def release(self):
        if not self.live:
            return
        self.live = False
        name, argument = {
            DEVICE: ("cuMemFree_v2", ctypes.c_uint64),
            PINNED: ("cuMemFreeHost", ctypes.c_void_p),
            REGION: ("cuMemHostUnregister", ctypes.c_void_p),
        }[self.kind]
        code = self._driver.code(name, argument(self.address))
        if code not in GONE:
            raise DriverError(name, code)


def allocate(driver, size):
    """Device memory; the driver gives nothing for no bytes, a plugin may."""
    pointer = ctypes.c_uint64()
    driver.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
    return Block(driver, DEVICE, pointer.value)


def allocate_host(driver, size, flags):
    pointer = ctypes.c_void_p()
    driver.call(
        "cuMemHostAlloc", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)), ctypes.c_uint(flags)
    )
    return Block(driver, PINNED, pointer.value)


def pin(driver, address, size, mapped):
    flags = _REGISTER_MAPPED if mapped else 0
    driver.call(
        "cuMemHostRegister_v2",
        ctypes.c_void_p(address),
        ctypes.c_size_t(size),
        ctypes.c_uint(flags),
    )
    return Block(driver, REGION, address)


def base(driver, address):
    """Where the allocation begins that an address lies in."""
    start, size = ctypes.c_uint64(), ctypes.c_size_t()
    driver.call(
        "cuMemGetAddressRange_v2", ctypes.byref(start), ctypes.byref(size), ctypes.c_uint64(address)
    )
    return start.value


def ipc_handle(driver, address):
    """The 64 bytes of a CUipcMemHandle."""
    handle = ctypes.create_string_buffer(64)
    driver.call("cuIpcGetMemHandle", handle, ctypes.c_uint64(address))
    return handle.raw


def current(driver):
    """The CUcontext that is current on this thread; 0 for none."""
    context = ctypes.c_void_p()
    driver.call("cuCtxGetCurrent", ctypes.byref(context))
    return context.value or 0
