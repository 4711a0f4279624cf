"""RMM's plugin with one of the two defects of its finalizer repaired.

A report names each as a cause of its own, because each remains without the other. `rmm_standin` is
imported for the buffer class.
"""

import itertools
from collections.abc import Callable
from typing import Any

import rmm_standin  # noqa: F401
from cuda.bindings.driver import CUdeviceptr
from numba.cuda import MemoryPointer
from rmm import pylibrmm
from rmm.allocators.numba import RMMNumbaManager

_numbers = itertools.count(1 << 60)


class ChecksKey(RMMNumbaManager):
    """Its finalizer checks whether its key is in the table. Keys are addresses, as in RMM."""

    def memalloc(self, size: int) -> MemoryPointer:
        buffer, allocations = pylibrmm.DeviceBuffer(size=size), self.allocations
        key = self.key(buffer)
        allocations[key] = buffer
        pointer = CUdeviceptr(int(buffer.ptr))
        return MemoryPointer(self.context, pointer, size, finalizer=finalizer(self, key))

    def key(self, buffer: Any) -> int:
        return int(buffer.ptr)

    def is_there(self, key: int) -> bool:
        return key in self.allocations


class NumbersBuffers(ChecksKey):
    """Its keys are numbers. Its finalizer checks whether the table is empty, as in RMM."""

    def key(self, buffer: Any) -> int:
        return next(_numbers)

    def is_there(self, key: int) -> bool:
        return bool(self.allocations)


def finalizer(manager: ChecksKey, key: int) -> Callable[[], None]:
    """Refers to the manager, which Numba keeps as long as its context."""

    def finalize() -> None:
        if manager.is_there(key):
            del manager.allocations[key]

    return finalize
