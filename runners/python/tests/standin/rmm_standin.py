"""RMM's own plugin for Numba, with a buffer class that needs no CUDA runtime.

Everything is the installed wheel's, `rmm/allocators/numba.py` first of all, except `rmm.pylibrmm.DeviceBuffer`: that one calls the CUDA
runtime, which works on genuine drivers alone. The README beside this file says how the two compare.
"""

import contextlib

import rmm.allocators.numba
import rmm.pylibrmm
from cuda.bindings import driver
from cuda.bindings.driver import CUcontext, CUresult

_OK, _OUT_OF_MEMORY = CUresult.CUDA_SUCCESS, CUresult.CUDA_ERROR_OUT_OF_MEMORY
#: Device ordinal -> its context, as it was when memory came from it last.
_contexts = {}


class DeviceBuffer:
    """What the plugin uses of RMM's: `size` bytes of the current device, from the driver and back to it, as with RMM's
    default resource."""

    def __init__(self, *, size):
        self.ptr, self.size, self.device = 0, size, _current_device()
        if not 0 <= size < 1 << 64:
            raise OverflowError("the size does not fit a size_t")
        if size:
            with _on(self.device):
                self.ptr = _allocated(size)
                _contexts[self.device] = driver.cuCtxGetCurrent()[1]

    # Bound when the class is made: at the end of the interpreter the module's own names may be
    # gone.
    def __del__(self, free=driver.cuMemFree):
        if self.ptr:
            with _on(self.device):
                free(self.ptr)  # Whatever it answers, as RMM does outside of debug builds.


def _allocated(size):
    code, address = driver.cuMemAlloc(size)
    if code == _OUT_OF_MEMORY:
        raise MemoryError(
            f"std::bad_alloc: out_of_memory: CUDA error (failed to allocate {size} bytes)"
        )
    if code != _OK:
        raise MemoryError(f"std::bad_alloc: CUDA error: {code.name}")
    return int(address)


@contextlib.contextmanager
def _on(device):
    """As the CUDA runtime does it: a thread that has no context gets the primary context of its device, and keeps it."""
    before = _current_device()
    if before != device or not int(driver.cuCtxGetCurrent()[1]):
        _make_current(device)
    try:
        yield
    finally:
        if before != device:
            _make_current(before)


def _current_device():
    """The runtime's answer: device 0 for a thread without a context."""
    code, device = driver.cuCtxGetDevice()
    return int(device) if code == _OK else 0


def _make_current(device):
    context = _contexts.get(device)
    if context is None:
        code, context = driver.cuDevicePrimaryCtxRetain(device)
        if code != _OK:
            raise RuntimeError(f"CUDA error: {code.name}")
    driver.cuCtxSetCurrent(CUcontext(int(context)))


rmm.pylibrmm.DeviceBuffer = DeviceBuffer
_numba_memory_manager = rmm.allocators.numba.RMMNumbaManager
