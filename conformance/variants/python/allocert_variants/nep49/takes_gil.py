"""A handler whose blocks come from the heap of Python that needs the GIL.

NumPy holds the GIL where it calls malloc(), calloc() and free(). So realloc() alone takes it.
"""

import ctypes

from . import python_heap

# A function that ctypes makes takes the GIL, and one of Python that it calls keeps it.
_Realloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_ReallocOfHeap = ctypes.PYFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
)

_handler = python_heap.Handler(b"takes gil", 1, python_heap.heap(python_heap.MEMORY_DOMAIN))
_realloc_of_heap = _ReallocOfHeap(_handler.heap.realloc)


def _realloc(context: int | None, block: int | None, size: int) -> int | None:
    moved: int | None = _realloc_of_heap(context, block, size)
    return moved


_function = _Realloc(_realloc)
_handler.heap.realloc = ctypes.cast(_function, ctypes.c_void_p).value
capsule = python_heap.capsule_of(_handler)
