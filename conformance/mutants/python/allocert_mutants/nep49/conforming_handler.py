"""A handler whose functions are Python, called through ctypes."""

import ctypes
from typing import Any

_libc = ctypes.CDLL(None)
_address, _size = ctypes.c_void_p, ctypes.c_size_t
_libc.malloc.restype, _libc.malloc.argtypes = _address, (_size,)
_libc.calloc.restype, _libc.calloc.argtypes = _address, (_size, _size)
_libc.realloc.restype, _libc.realloc.argtypes = _address, (_address, _size)
_libc.free.restype, _libc.free.argtypes = None, (_address,)

_Malloc = ctypes.CFUNCTYPE(_address, _address, _size)
_Calloc = ctypes.CFUNCTYPE(_address, _address, _size, _size)
_Realloc = ctypes.CFUNCTYPE(_address, _address, _address, _size)
_Free = ctypes.CFUNCTYPE(None, _address, _address, _size)

_new_capsule = ctypes.PyDLL(None).PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (_address, ctypes.c_char_p, _address)


NAME_BYTES = 127


class _Structure(ctypes.Structure):
    """`PyDataMem_Handler`."""

    _fields_ = (
        ("name", ctypes.c_char * NAME_BYTES),
        ("version", ctypes.c_uint8),
        ("ctx", _address),
        ("malloc", _Malloc),
        ("calloc", _Calloc),
        ("realloc", _Realloc),
        ("free", _Free),
    )


class Handler:
    """Passes each call on to libc. `capsule` lives as long as the handler."""

    capsule_name = b"mem_handler"

    def __init__(self) -> None:
        self.structure = _Structure(
            b"python",
            1,
            None,
            _Malloc(self.malloc),
            _Calloc(self.calloc),
            _Realloc(self.realloc),
            _Free(self.free),
        )
        self.capsule: Any = _new_capsule(ctypes.addressof(self.structure), self.capsule_name, None)

    def malloc(self, _context: int | None, size: int) -> int | None:
        block: int | None = _libc.malloc(size)
        return block

    def calloc(self, _context: int | None, nelem: int, elsize: int) -> int | None:
        block: int | None = _libc.calloc(nelem, elsize)
        return block

    def realloc(self, _context: int | None, block: int | None, size: int) -> int | None:
        moved: int | None = _libc.realloc(block, size)
        return moved

    def free(self, _context: int | None, block: int | None, _size: int) -> None:
        _libc.free(block)


_handler = Handler()
capsule = _handler.capsule
