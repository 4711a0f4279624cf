"""RMM's own plugin for Numba, with a buffer class that needs no CUDA runtime.

The plugin is `rmm/allocators/numba.py` of the installed wheel. This module replaces only
`rmm.pylibrmm.DeviceBuffer`, which calls the CUDA runtime: that works on genuine drivers only. The
README beside this file compares the two classes.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import rmm.allocators.numba
import rmm.pylibrmm
from cuda.bindings import driver
from cuda.bindings.driver import CUcontext, CUresult

_OK, _OUT_OF_MEMORY = CUresult.CUDA_SUCCESS, CUresult.CUDA_ERROR_OUT_OF_MEMORY
#: Device ordinal -> its context, as it was when memory came from it last.
_contexts: dict[int, Any] = {}


class DeviceBuffer:
    """What the plugin uses of RMM's class: `size` bytes of the current device.

    It takes them from the driver and gives them back, as RMM's default resource does.
    """

    def __init__(self, *, size: int) -> None:
        self.ptr, self.size, self.device = 0, size, _current_device()
        if not 0 <= size < 1 << 64:
            raise OverflowError("the size does not fit a size_t")
        if size:
            with _on(self.device):
                self.ptr = _allocated(size)
                _contexts[self.device] = driver.cuCtxGetCurrent()[1]

    # The default binds the function when the class is made: when the interpreter ends, the names
    # of the module may be gone.
    def __del__(self, free: Callable[[int], Any] = driver.cuMemFree) -> None:
        if self.ptr:
            with _on(self.device):
                free(self.ptr)  # Whatever it answers, as RMM does outside of debug builds.


def _allocated(size: int) -> int:
    code, address = driver.cuMemAlloc(size)
    if code == _OUT_OF_MEMORY:
        raise MemoryError(
            f"std::bad_alloc: out_of_memory: CUDA error (failed to allocate {size} bytes)"
        )
    if code != _OK:
        raise MemoryError(f"std::bad_alloc: CUDA error: {code.name}")
    return int(address)


@contextlib.contextmanager
def _on(device: int) -> Iterator[None]:
    """Makes a context of the device current, as the CUDA runtime does.

    A thread that has none gets the primary context of its device, and keeps it.
    """
    before = _current_device()
    if before != device or not int(driver.cuCtxGetCurrent()[1]):
        _make_current(device)
    try:
        yield
    finally:
        if before != device:
            _make_current(before)


def _current_device() -> int:
    """The device, as the runtime names it: 0 for a thread without a context."""
    code, device = driver.cuCtxGetDevice()
    return int(device) if code == _OK else 0


def _make_current(device: int) -> None:
    context = _contexts.get(device)
    if context is None:
        code, context = driver.cuDevicePrimaryCtxRetain(device)
        if code != _OK:
            raise RuntimeError(f"CUDA error: {code.name}")
    driver.cuCtxSetCurrent(CUcontext(int(context)))


rmm.pylibrmm.DeviceBuffer = DeviceBuffer
_numba_memory_manager = rmm.allocators.numba.RMMNumbaManager
