"""Writes and reads memory for a step.

Device memory goes through the driver. Host memory is touched directly, once that is known to be
safe.
"""

import ctypes
import mmap
import weakref
from typing import Any, NamedTuple

from ..driver import Driver
from ..operations import Facts
from ..outcome import DriverError
from ..safe_access import read_attribute
from ..uniform import uniform_byte
from . import facts

_buffers: "weakref.WeakSet[HostBuffer]" = weakref.WeakSet()
#: Pages outlive their buffer: if a plugin lets the owner of pinned memory die, the case shall find
#: that, and the worker shall not crash.
_pages: list[tuple[mmap.mmap, ctypes.c_char]] = []
#: What the pages hold after their buffer died.
_DEAD_BYTE = 0xDD


class Unusable(Exception):
    """There is no address to write to or read from."""


class HostBuffer:
    """Pageable memory of the worker, in pages of its own."""

    def __init__(self, size_bytes: int, offset: int) -> None:
        """The buffer begins `offset` bytes behind the beginning of its first page."""
        self._pages = mmap.mmap(-1, offset + max(size_bytes, 1))
        self._first = ctypes.c_char.from_buffer(self._pages, offset)
        self.host_pointer = ctypes.addressof(self._first)
        self.size = size_bytes
        _buffers.add(self)
        _pages.append((self._pages, self._first))
        overwrite = weakref.finalize(self, ctypes.memset, self.host_pointer, _DEAD_BYTE, size_bytes)
        overwrite.atexit = False

    def holds(self, pointer: int, size_bytes: int) -> bool:
        """Whether all bytes of a range lie in this buffer."""
        end = self.host_pointer + self.size
        return self.host_pointer <= pointer and pointer + size_bytes <= end


def fill(driver: Driver, value: Any, byte: int, offset: int, size_bytes: int | None) -> None:
    """Writes the byte to `size_bytes` bytes (None: to all) of memory, a buffer or an array.

    Raises Unusable or DriverError.
    """
    target = _range(driver, value, offset, size_bytes)
    if target.size_bytes == 0:
        return
    if target.on_host:
        ctypes.memset(target.pointer, byte, target.size_bytes)
    else:
        driver.fill(target.pointer, byte, target.size_bytes)


def read(
    driver: Driver, value: Any, offset: int, size_bytes: int | None, by_device: bool = False
) -> Facts:
    """Reads `size_bytes` bytes (None: all) of memory, a buffer or an array.

    `by_device`: through the device address, even if there is a host address. Raises Unusable or
    DriverError.
    """
    source = _range(driver, value, offset, size_bytes, by_device)
    if source.size_bytes == 0:
        data = b""
    elif source.on_host:
        data = ctypes.string_at(source.pointer, source.size_bytes)
    else:
        data = driver.read(source.pointer, source.size_bytes)
    return {"uniform": uniform_byte(data), "bytes_read": len(data)}


class _Range(NamedTuple):
    pointer: int
    size_bytes: int
    on_host: bool


def _range(
    driver: Driver, value: Any, offset: int, size_bytes: int | None, by_device: bool = False
) -> _Range:
    known = _addresses(value)
    host, device, whole = known["host_pointer"], known["pointer"], known["size_bytes"]
    size = whole - offset if size_bytes is None and type(whole) is int else size_bytes
    if type(size) is not int or size < 0:
        raise Unusable(f"the memory does not say how large it is: {whole}")
    if not host and not device:
        raise Unusable("the memory has no address")
    if not host or (by_device and device):
        return _Range(device + offset, size, False)
    start = host + offset
    in_buffer = any(buffer.holds(start, size) for buffer in list(_buffers))
    if size and not in_buffer and not driver.owns_host_memory(start, size):
        # CUDA_ERROR_INVALID_VALUE: what the driver would answer for it.
        raise DriverError(
            f"host memory at {start:#x} is not known to the driver: cuPointerGetAttribute", 1
        )
    return _Range(start, size, True)


def _addresses(value: Any) -> Facts:
    if isinstance(value, HostBuffer):
        return {"host_pointer": value.host_pointer, "pointer": 0, "size_bytes": value.size}
    if read_attribute(value, "dtype") is not None:
        return facts.array(value)
    return facts.memory(value)
