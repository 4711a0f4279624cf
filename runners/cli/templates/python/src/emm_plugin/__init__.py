"""A memory manager for numba-cuda: one allocation of the driver for each request.

Numba uses it with ``NUMBA_CUDA_MEMORY_MANAGER=emm_plugin``.
"""

import contextlib
import functools
import itertools
import weakref
from collections.abc import Iterator
from typing import Any

from numba.cuda import GetIpcHandleMixin, HostOnlyCUDAMemoryManager, MemoryInfo, MemoryPointer
from numba.cuda.cudadrv.driver import binding, driver


class Blocks:
    """Device memory by token. Finalizers keep this object alive, and no manager and no context."""

    def __init__(self) -> None:
        #: Address of each live block. The driver gives an address again after it was freed; a token
        #: is never given again, so a late finalizer frees no memory of others.
        self.live: dict[int, int] = {}
        self.released: list[int] = []
        self.deferring = 0
        self._tokens = itertools.count(1)

    def allocate(self, size: int) -> tuple[int, int]:
        """Returns the token and the address."""
        # The driver refuses 0 bytes, and an empty array needs an address of its own.
        address = int(driver.cuMemAlloc(max(size, 1)))
        token = next(self._tokens)
        self.live[token] = address
        return token, address

    def release(self, token: int) -> None:
        address = self.live.pop(token, None)
        if address is None:
            return  # reset() has freed it
        self.released.append(address)
        if not self.deferring:
            self.free_released()

    def reset(self) -> None:
        while self.live:
            self.released.append(self.live.popitem()[1])
        self.free_released()

    def free_released(self) -> None:
        # Several threads may be here: each takes other blocks.
        with contextlib.suppress(IndexError):
            while True:
                driver.cuMemFree(self.released.pop())


class Manager(GetIpcHandleMixin, HostOnlyCUDAMemoryManager):
    """Frees device memory when it is released, or at the end of the last `defer_cleanup()`.

    Numba's base class allocates and pins the memory of the host.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._blocks = Blocks()

    @property
    def interface_version(self) -> int:
        return 1

    def initialize(self) -> None:
        super().initialize()

    def memalloc(self, size: int) -> MemoryPointer:
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        token, address = self._blocks.allocate(size)
        return MemoryPointer(
            weakref.proxy(self.context),
            binding.CUdeviceptr(address),
            size,
            finalizer=functools.partial(self._blocks.release, token),
        )

    def get_memory_info(self) -> MemoryInfo:
        driver.cuCtxPushCurrent(self.context.handle)
        try:
            free, total = driver.cuMemGetInfo()
        finally:
            driver.cuCtxPopCurrent()
        return MemoryInfo(free=free, total=total)

    def reset(self) -> None:
        super().reset()
        self._blocks.reset()

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super().defer_cleanup():
            self._blocks.deferring += 1
            try:
                yield
            finally:
                self._blocks.deferring -= 1
                if not self._blocks.deferring:
                    self._blocks.free_released()


#: What Numba looks for in the module that NUMBA_CUDA_MEMORY_MANAGER names.
_numba_memory_manager = Manager
