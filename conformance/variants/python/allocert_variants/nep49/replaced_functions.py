"""A handler that finds its functions out when it is first used.

The first call of malloc() puts another function into the structure, and a name that says so. All
blocks are those of a heap of Python.
"""

import ctypes

from . import python_heap

_Malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

_handler = python_heap.Handler(b"not used yet", 1, python_heap.raw_heap())
_address_of_heap = _handler.heap.malloc
_malloc_of_heap = _Malloc(_address_of_heap)


def _first_malloc(context: int | None, size: int) -> int | None:
    _handler.heap.malloc = _address_of_heap
    _handler.name = b"in use"
    block: int | None = _malloc_of_heap(context, size)
    return block


_function = _Malloc(_first_malloc)
_handler.heap.malloc = ctypes.cast(_function, ctypes.c_void_p).value
capsule = python_heap.capsule_of(_handler)
