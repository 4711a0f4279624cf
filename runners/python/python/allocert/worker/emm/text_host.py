"""Makes numba-cuda a host that is true to a text, where numba-cuda differs from it.

A plugin that is true to its text is not to blame for what the host of today does otherwise. The
points are the differences of `profiles.yaml`.
"""

import ctypes
import os
from typing import Any

from numba.cuda.cudadrv.driver import (
    HostOnlyCUDAMemoryManager,
    MappedMemory,
    MemoryPointer,
    PinnedMemory,
)

#: The profile of the text. The harness sets it.
_TEXT = "ALLOCERT_TEXT"


def be_true_to_text() -> None:
    """Changes the host if the harness names a text. The subject is not imported yet."""
    text = os.environ.get(_TEXT)
    if text == "nbep7":
        _take_addresses_of((ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes._Pointer))
        # `host-only-initialize`: abstract in numba-cuda.
        HostOnlyCUDAMemoryManager.initialize = _initialize
    elif text == "numba-docs":
        _take_addresses_of((ctypes.c_void_p,))


def _initialize(_manager: Any) -> None:
    """Nothing to do: the constructor has made what the class needs."""


def _take_addresses_of(types: tuple[type, ...]) -> None:
    """Has the classes of memory take addresses of these types: `pointer-type`, `host-pointer-type`.

    Of a null c_void_p numba-cuda makes no device memory, it takes a c_uint64 for no address, and
    for the address of host memory it takes that of the ctypes object.
    """
    for cls in (MemoryPointer, PinnedMemory, MappedMemory):
        _replace_constructor(cls, types)


def _replace_constructor(cls: Any, types: tuple[type, ...]) -> None:
    constructor = cls.__init__

    def construct(
        self: Any,
        context: Any,
        pointer: Any,
        size: Any,
        owner: Any = None,
        finalizer: Any = None,
    ) -> None:
        if isinstance(pointer, types):
            pointer = _address(pointer)
        constructor(self, context, pointer, size, owner=owner, finalizer=finalizer)

    cls.__init__ = construct


def _address(pointer: Any) -> int:
    if isinstance(pointer, ctypes._Pointer):
        pointer = ctypes.cast(pointer, ctypes.c_void_p)
    address: int | None = pointer.value
    return address or 0
