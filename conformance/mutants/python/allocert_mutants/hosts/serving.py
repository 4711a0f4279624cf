"""Faults in the classes that a host gives to plugins."""

import contextlib
import ctypes

from numba.cuda.cudadrv import driver as numba_driver

from .registry import around, mutant

HostOnly = numba_driver.HostOnlyCUDAMemoryManager


@mutant
def base_serves_nothing(_host):
    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        raise NotImplementedError("left to the plugin")

    HostOnly.memhostalloc = memhostalloc


@mutant
def base_is_abstract(_host):
    HostOnly.initialize = numba_driver.BaseCUDAMemoryManager.initialize


@mutant
def base_reset_forgets(_host):
    HostOnly.reset = lambda self: None


@mutant
def base_defers_nothing(_host):
    HostOnly.defer_cleanup = lambda self: contextlib.nullcontext()


@mutant
def mixin_forgets_offset(_host):
    @around(numba_driver.GetIpcHandleMixin, "get_ipc_handle")
    def get_ipc_handle(original, self, memory):
        handle = original(self, memory)
        handle.offset = 0
        return handle


def _refuses(kind):
    for cls in (numba_driver.MemoryPointer, numba_driver.MappedMemory, numba_driver.PinnedMemory):

        @around(cls, "__init__")
        def __init__(original, self, context, pointer, *args, **kwargs):
            if isinstance(pointer, kind):
                raise TypeError(f"an address cannot be a {kind.__name__}")
            original(self, context, pointer, *args, **kwargs)


@mutant
def refuses_void_pointers(_host):
    _refuses(ctypes.c_void_p)


@mutant
def refuses_integers_of_64_bits(_host):
    _refuses(ctypes.c_uint64)
