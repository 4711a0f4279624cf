"""Memory at addresses that may be wrong.

The kernel reads and writes it. It refuses an address at which a load or store of the worker's own
would end the process.
"""

import ctypes
import mmap
import os
import threading
from collections.abc import Iterator

from .uniform import uniform_byte_of_chunks

#: `MADV_POPULATE_WRITE` of Linux.
_POPULATE_WRITE = 23
#: How much is copied at a time.
_CHUNK_BYTES = 64 * 1024


class MemoryFault(Exception):
    """An address of the subject that cannot be read or written."""


class _Range(ctypes.Structure):
    """`struct iovec`."""

    _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t))


class _Buffer(threading.local):
    """A chunk of each thread's own.

    A type of array for each size, as `create_string_buffer` makes one, takes longer than the copy.
    """

    def __init__(self) -> None:
        self._bytes = ctypes.create_string_buffer(_CHUNK_BYTES)
        self.address = ctypes.addressof(self._bytes)


_buffer = _Buffer()
_libc = ctypes.CDLL(None, use_errno=True)
for _function in (_libc.process_vm_readv, _libc.process_vm_writev):
    _ranges = ctypes.POINTER(_Range)
    _function.restype = ctypes.c_ssize_t
    _function.argtypes = (
        ctypes.c_int,
        _ranges,
        ctypes.c_ulong,
        _ranges,
        ctypes.c_ulong,
        ctypes.c_ulong,
    )
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def read(address: int, size_bytes: int) -> bytes:
    """The bytes from an address on. Raises MemoryFault."""
    return b"".join(_read_chunks(address, size_bytes))


def fill(address: int, size_bytes: int, byte: int) -> None:
    """Writes a byte to each of so many. Raises MemoryFault."""
    ctypes.memset(_buffer.address, byte, min(size_bytes, _CHUNK_BYTES))
    for start, size in _chunks(address, size_bytes):
        own, other = _Range(_buffer.address, size), _Range(start, size)
        if _libc.process_vm_writev(os.getpid(), own, 1, other, 1, 0) != size:
            raise _fault(start, size, "written")


def occupy(address: int, size_bytes: int, byte: int) -> None:
    """Has the system give pages to all of so many bytes, and writes the first and last ones.

    Does less than `fill` for large blocks. Raises MemoryFault.
    """
    page_bytes = mmap.PAGESIZE
    begin = address & -page_bytes
    populated = (
        size_bytes > 2 * page_bytes
        and _libc.madvise(begin, address + size_bytes - begin, _POPULATE_WRITE) == 0
    )
    if not populated:  # small, memory of a device, or Linux before 5.14
        fill(address, size_bytes, byte)
        return
    fill(address, page_bytes, byte)
    fill(address + size_bytes - page_bytes, page_bytes, byte)


def uniform_byte(address: int, size_bytes: int) -> int | None:
    """The byte that all of so many are equal to, or None. Raises MemoryFault."""
    return uniform_byte_of_chunks(_read_chunks(address, size_bytes))


def _read_chunks(address: int, size_bytes: int) -> Iterator[bytes]:
    for start, size in _chunks(address, size_bytes):
        own, other = _Range(_buffer.address, size), _Range(start, size)
        if _libc.process_vm_readv(os.getpid(), own, 1, other, 1, 0) != size:
            raise _fault(start, size, "read")
        yield ctypes.string_at(_buffer.address, size)


def _chunks(address: int, size_bytes: int) -> Iterator[tuple[int, int]]:
    for offset in range(0, size_bytes, _CHUNK_BYTES):
        yield address + offset, min(size_bytes - offset, _CHUNK_BYTES)


def _fault(address: int, size_bytes: int, what: str) -> MemoryFault:
    return MemoryFault(f"host memory: {size_bytes} bytes from {address:#x} cannot be {what}")
