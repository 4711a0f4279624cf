"""Plugins that do not even try: nothing may pass them."""

import contextlib

from numba.cuda.cudadrv.driver import CudaAPIError, binding

from .honest import Manager


class DoesNothing(Manager):
    def memalloc(self, size):
        pass

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        pass

    def mempin(self, owner, pointer, size, mapped=False):
        pass

    def get_ipc_handle(self, memory):
        pass

    def get_memory_info(self):
        pass

    def reset(self):
        pass

    def defer_cleanup(self):
        return contextlib.nullcontext()


def _refuse(*_arguments, **_named):
    raise RuntimeError("this plugin always refuses")


def _no_memory(*_arguments, **_named):
    raise CudaAPIError(binding.CUresult.CUDA_ERROR_OUT_OF_MEMORY, "this plugin never has memory")


class AlwaysRaises(Manager):
    initialize = memalloc = memhostalloc = mempin = _refuse
    get_ipc_handle = get_memory_info = reset = defer_cleanup = _refuse


class AlwaysOutOfMemory(Manager):
    memalloc = memhostalloc = mempin = _no_memory
