"""A handler made of the functions of PyMem_Malloc() and PyMem_Realloc(), which need the GIL."""

import ctypes
from typing import Any

from .conforming_handler import NAME_BYTES

_CAPSULE_NAME = b"mem_handler"  # a capsule keeps the address of its name
_MEMORY_DOMAIN = 1

_python = ctypes.PyDLL(None)
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class _Handler(ctypes.Structure):
    """`PyDataMem_Handler`, with a `PyMemAllocatorEx` in it."""

    _fields_ = (
        ("name", ctypes.c_char * NAME_BYTES),
        ("version", ctypes.c_uint8),
        ("functions", ctypes.c_void_p * 5),
    )


_handler = _Handler(b"python memory", 1)
_python.PyMem_GetAllocator(_MEMORY_DOMAIN, ctypes.byref(_handler, _Handler.functions.offset))
capsule: Any = _python.PyCapsule_New(ctypes.addressof(_handler), _CAPSULE_NAME, None)
