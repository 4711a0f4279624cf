"""A handler that takes its blocks from a heap of Python.

The functions of such a heap have the signatures that NumPy calls, but for the size of free(), which
is in a register that free() does not read.
"""

import ctypes
from typing import Any

_CAPSULE_NAME = b"mem_handler"  # a capsule keeps the address of its name
_RAW_DOMAIN = 0  # the only one that needs no GIL
MEMORY_DOMAIN = 1

_python = ctypes.PyDLL(None)
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class _Heap(ctypes.Structure):
    """`PyMemAllocatorEx`."""

    _fields_ = tuple(
        (name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")
    )


class Handler(ctypes.Structure):
    """`PyDataMem_Handler`."""

    _fields_ = (("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("heap", _Heap))


def raw_heap() -> _Heap:
    """The heap that needs no GIL."""
    return heap(_RAW_DOMAIN)


def heap(domain: int) -> _Heap:
    """The heap of a domain."""
    found = _Heap()
    _python.PyMem_GetAllocator(domain, ctypes.byref(found))
    return found


def capsule_of(handler: Handler) -> Any:
    """A capsule that NumPy takes. Its handler must live as long as the process."""
    return _python.PyCapsule_New(ctypes.addressof(handler), _CAPSULE_NAME, None)


_handler = Handler(b"python heap", 1, raw_heap())
capsule: Any = capsule_of(_handler)
