"""Hosts that open and close IPC handles wrongly."""

import contextlib
import weakref
from typing import Any

from numba import cuda
from numba.cuda.cudadrv import driver as numba_driver

from .mutant_registry import Function, around, mutant

driver = numba_driver.driver
Context = numba_driver.Context
DirectHandle, StagedHandle = numba_driver._CudaIpcImpl, numba_driver._StagedIpcImpl


@mutant
def leaves_handles_open(_host: Any) -> None:
    """Closes no handle."""
    DirectHandle.close = lambda self: None


@mutant
def closes_handles_twice(_host: Any) -> None:
    """Closes each handle twice."""

    @around(DirectHandle, "close")
    def close(original: Function, self: Any) -> None:
        opened = self._opened_mem
        original(self)
        with contextlib.suppress(numba_driver.CudaAPIError):
            driver.cuIpcCloseMemHandle(opened.handle)


@mutant
def leaves_handles_open_on_error(host: Any) -> None:
    """Closes no handle when the block ends with an exception."""
    host.open_ipc_array = cuda.open_ipc_array


@mutant
def ignores_handle_offset(_host: Any) -> None:
    """Opens a handle at the start of its allocation."""

    @around(DirectHandle, "__init__")
    def __init__(original: Function, self: Any, parent: Any) -> None:
        original(self, parent)
        self.offset = 0


@mutant
def frees_staged_memory_early(_host: Any) -> None:
    """Counts references to the memory that it stages into, which is freed before it is used.

    NBEP 7 removed this from Numba.
    """

    @around(StagedHandle, "open")
    def open_staged(original: Function, self: Any, context: Any) -> Any:
        return original(self, context).own()


@mutant
def stages_without_plugin(_host: Any) -> None:
    """Allocates the memory that it stages into from the driver."""

    def memalloc(self: Any, size: int) -> Any:
        pointer = driver.cuMemAlloc(size)
        return numba_driver.MemoryPointer(
            weakref.proxy(self), pointer, size, finalizer=lambda: driver.cuMemFree(pointer)
        )

    @around(StagedHandle, "open")
    def open_staged(original: Function, self: Any, context: Any) -> Any:
        original_memalloc, Context.memalloc = Context.memalloc, memalloc
        try:
            return original(self, context)
        finally:
            Context.memalloc = original_memalloc
