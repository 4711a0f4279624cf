"""Faults in how a host opens the handles of others and closes them."""

import contextlib
import weakref

from numba import cuda
from numba.cuda.cudadrv import driver as numba_driver

from .registry import around, mutant

driver = numba_driver.driver
Context = numba_driver.Context
Direct, Staged = numba_driver._CudaIpcImpl, numba_driver._StagedIpcImpl


@mutant
def leaves_handles_open(_host):
    Direct.close = lambda self: None


@mutant
def closes_handles_twice(_host):
    @around(Direct, "close")
    def close(original, self):
        opened = self._opened_mem
        original(self)
        with contextlib.suppress(numba_driver.CudaAPIError):
            driver.cuIpcCloseMemHandle(opened.handle)


@mutant
def leaves_handles_open_on_error(host):
    host.open_ipc_array = cuda.open_ipc_array


@mutant
def forgets_offset_of_handles(_host):
    @around(Direct, "__init__")
    def __init__(original, self, parent):
        original(self, parent)
        self.offset = 0


@mutant
def owns_staged_memory(_host):
    """What NBEP 7 took out of Numba."""

    @around(Staged, "open")
    def open_staged(original, self, context):
        return original(self, context).own()


@mutant
def stages_by_itself(_host):
    """Stages into memory of its own."""

    def memalloc(self, size):
        pointer = driver.cuMemAlloc(size)
        return numba_driver.MemoryPointer(
            weakref.proxy(self), pointer, size, finalizer=lambda: driver.cuMemFree(pointer)
        )

    @around(Staged, "open")
    def open_staged(original, self, context):
        kept, Context.memalloc = Context.memalloc, memalloc
        try:
            return original(self, context)
        finally:
            Context.memalloc = kept
