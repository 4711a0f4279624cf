"""A handler whose malloc() asks a thread that starts when the module is imported.

The other functions are those of a heap of Python.
"""

import ctypes
import queue
import threading
from typing import NamedTuple

from . import python_heap

_Malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Request(NamedTuple):
    context: int | None
    size: int
    #: Takes the address of the block, or None.
    answer: "queue.SimpleQueue[int | None]"


_requests: "queue.SimpleQueue[_Request]" = queue.SimpleQueue()

_handler = python_heap.Handler(b"own thread", 1, python_heap.raw_heap())
_malloc_of_heap = _Malloc(_handler.heap.malloc)


def _serve() -> None:
    while True:
        request = _requests.get()
        request.answer.put(_malloc_of_heap(request.context, request.size))


def _malloc(context: int | None, size: int) -> int | None:
    answer: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    _requests.put(_Request(context, size, answer))
    return answer.get()


_function = _Malloc(_malloc)
_handler.heap.malloc = ctypes.cast(_function, ctypes.c_void_p).value
threading.Thread(target=_serve, daemon=True).start()
capsule = python_heap.capsule_of(_handler)
