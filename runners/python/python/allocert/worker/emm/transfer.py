"""Writing and reading memory for a step: device memory through the driver, host memory directly once that is safe."""

import ctypes
import mmap
import weakref

from ..outcome import DriverError
from ..peek import read
from . import facts

_buffers = weakref.WeakSet()
#: Pages outlive their buffer: a plugin that lets the owner of pinned memory die shall be seen to, not crash the worker.
_pages = []
#: What the pages hold after their buffer died.
_DEAD = 0xDD


class Unusable(Exception):
    """There is no address to write to or read from."""


class HostBuffer:
    """Pageable, page-aligned memory of the worker."""

    def __init__(self, size_bytes):
        self._pages = mmap.mmap(-1, max(size_bytes, 1))
        self._first = ctypes.c_char.from_buffer(self._pages)
        self.host_pointer = ctypes.addressof(self._first)
        self.size = size_bytes
        _buffers.add(self)
        _pages.append((self._pages, self._first))
        weakref.finalize(self, ctypes.memset, self.host_pointer, _DEAD, size_bytes).atexit = False

    def holds(self, pointer, size_bytes):
        return (
            self.host_pointer <= pointer and pointer + size_bytes <= self.host_pointer + self.size
        )


def fill(driver, value, byte, offset, size_bytes):
    place = _place(driver, value, offset, size_bytes)
    if place.size_bytes == 0:
        return
    if place.on_host:
        ctypes.memset(place.pointer, byte, place.size_bytes)
    else:
        driver.fill(place.pointer, byte, place.size_bytes)


def uniform(driver, value, offset, size_bytes, device=False):
    """The facts of a read; `device`: by way of the device address, also where there is one of the host."""
    place = _place(driver, value, offset, size_bytes, device)
    if place.size_bytes == 0:
        data = b""
    elif place.on_host:
        data = ctypes.string_at(place.pointer, place.size_bytes)
    else:
        data = driver.read(place.pointer, place.size_bytes)
    return {"uniform": uniform_byte(data), "bytes_read": len(data)}


def uniform_byte(data):
    """The byte that all of `data` is made of, or None."""
    return data[0] if data and data.count(data[0]) == len(data) else None


class _Place:
    def __init__(self, pointer, size_bytes, on_host):
        self.pointer, self.size_bytes, self.on_host = pointer, size_bytes, on_host


def _place(driver, value, offset, size_bytes, by_device=False):
    known = _addresses(value)
    host, device = known["host_pointer"], known["pointer"]
    size = (
        known["size_bytes"] - offset
        if size_bytes is None and type(known["size_bytes"]) is int
        else size_bytes
    )
    if type(size) is not int or size < 0:
        raise Unusable(f"the memory does not say how large it is: {known['size_bytes']}")
    if not host and not device:
        raise Unusable("the memory has no address")
    if not host or (by_device and device):
        return _Place(device + offset, size, False)
    start = host + offset
    if size and not any(buffer.holds(start, size) for buffer in list(_buffers)):
        if not driver.owns_host_memory(start, size):
            # CUDA_ERROR_INVALID_VALUE: what the driver would answer for it.
            raise DriverError(
                f"host memory at {start:#x} is not known to the driver: cuPointerGetAttribute", 1
            )
    return _Place(start, size, True)


def _addresses(value):
    if isinstance(value, HostBuffer):
        return {"host_pointer": value.host_pointer, "pointer": 0, "size_bytes": value.size}
    if read(value, "dtype") is not None:
        return facts.array(value)
    return facts.memory(value)
