"""Memory at addresses that may be wrong.

The kernel reads and writes it. It refuses an address at which a load or store of the worker's own
would end the process.
"""

import ctypes
import os
from collections.abc import Iterator

#: How much is copied at a time.
_CHUNK_BYTES = 64 * 1024


class MemoryFault(Exception):
    """An address of the subject that cannot be read or written."""


class _Range(ctypes.Structure):
    """`struct iovec`."""

    _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t))


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


def read(address: int, size_bytes: int) -> bytes:
    """The bytes from an address on. Raises MemoryFault."""
    buffer = ctypes.create_string_buffer(size_bytes)
    own = _Range(ctypes.addressof(buffer), size_bytes)
    other = _Range(address, size_bytes)
    if _libc.process_vm_readv(os.getpid(), own, 1, other, 1, 0) != size_bytes:
        raise _fault(address, size_bytes, "read")
    return buffer.raw


def fill(address: int, size_bytes: int, byte: int) -> None:
    """Writes a byte to each of so many. Raises MemoryFault."""
    source = ctypes.create_string_buffer(bytes([byte]) * min(size_bytes, _CHUNK_BYTES))
    for start, size in _chunks(address, size_bytes):
        own = _Range(ctypes.addressof(source), size)
        if _libc.process_vm_writev(os.getpid(), own, 1, _Range(start, size), 1, 0) != size:
            raise _fault(address, size_bytes, "written")


def uniform_byte(address: int, size_bytes: int) -> int | None:
    """The byte that all of so many are equal to, or None. Raises MemoryFault."""
    found: int | None = None
    for start, size in _chunks(address, size_bytes):
        chunk = read(start, size)
        if chunk.count(chunk[0]) != size or found not in (None, chunk[0]):
            return None
        found = chunk[0]
    return found


def _chunks(address: int, size_bytes: int) -> Iterator[tuple[int, int]]:
    for offset in range(0, size_bytes, _CHUNK_BYTES):
        yield address + offset, min(size_bytes - offset, _CHUNK_BYTES)


def _fault(address: int, size_bytes: int, what: str) -> MemoryFault:
    return MemoryFault(f"host memory: {size_bytes} bytes from {address:#x} cannot be {what}")
