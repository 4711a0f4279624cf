"""A plugin that conforms: device memory from the driver, host memory left to Numba.

The mutants in this package override one of its methods.
"""

import contextlib
import functools
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from numba.cuda import (
    GetIpcHandleMixin,
    HostOnlyCUDAMemoryManager,
    MappedMemory,
    MemoryInfo,
    MemoryPointer,
    PinnedMemory,
)
from numba.cuda.cudadrv.driver import CudaAPIError, binding, driver

OUT_OF_MEMORY = 2

Finalizer: TypeAlias = Callable[[], object]
HostMemory: TypeAlias = MappedMemory | PinnedMemory


@contextlib.contextmanager
def current(context: Any) -> Iterator[None]:
    """Makes a CUcontext current for a while."""
    driver.cuCtxPushCurrent(context)
    try:
        yield
    finally:
        driver.cuCtxPopCurrent()


class Blocks:
    """Device memory by token. An address is used again after it was freed; a token never is."""

    def __init__(self) -> None:
        #: Address of each live block.
        self.live: dict[int, int] = {}
        #: Addresses of released blocks that are not freed yet.
        self.pending: list[int] = []
        #: How many scopes of `defer_cleanup()` are active.
        self.deferring = 0
        self._tokens = itertools.count(1)

    def allocate(self, size: int) -> int:
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        try:
            address = self.take(max(size, 1))
        except CudaAPIError as error:
            if error.code != OUT_OF_MEMORY or self.deferring:
                raise
            self.flush()
            address = self.take(max(size, 1))
        token = next(self._tokens)
        self.live[token] = address
        return token

    def take(self, size: int) -> int:
        """Asks the driver for a block."""
        return int(driver.cuMemAlloc(size))

    def give(self, address: int) -> None:
        """Gives a block back to the driver."""
        driver.cuMemFree(address)

    def release(self, token: int) -> None:
        address = self.live.pop(token, None)
        if address is None:
            return
        self.pending.append(address)
        if not self.deferring:
            self.flush()

    def flush(self) -> None:
        # Several threads may flush at the same time; each pops other blocks.
        with contextlib.suppress(IndexError):
            while True:
                self.give(self.pending.pop())

    def reset(self) -> None:
        while self.live:
            self.pending.append(self.live.popitem()[1])
        self.flush()


class Manager(GetIpcHandleMixin, HostOnlyCUDAMemoryManager):
    """Frees device memory at its release, or at the end of the last scope of defer_cleanup()."""

    blocks_class: type[Blocks] = Blocks

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.blocks = self.blocks_class()

    def initialize(self) -> None:
        super().initialize()

    def memalloc(self, size: int) -> MemoryPointer:
        token = self.blocks.allocate(size)
        return self.wrap(self.blocks.live[token], size, self.finalizer(token))

    def finalizer(self, token: int) -> Finalizer:
        return functools.partial(self.blocks.release, token)

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        pointer = binding.CUdeviceptr(address)
        return MemoryPointer(weakref.proxy(self.context), pointer, size, finalizer=finalizer)

    def get_memory_info(self) -> MemoryInfo:
        with current(self.context.handle):
            free, total = driver.cuMemGetInfo()
        return MemoryInfo(free=free, total=total)

    def reset(self) -> None:
        super().reset()
        self.blocks.reset()

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super().defer_cleanup():
            self.blocks.deferring += 1
            try:
                yield
            finally:
                self.blocks.deferring -= 1
                if not self.blocks.deferring:
                    self.blocks.flush()

    @property
    def interface_version(self) -> int:
        return 1


#: By handle of the context.
_blocks_of_contexts: dict[int, Blocks] = {}


class OneTableForContext(Manager):
    """Keeps the blocks of all managers of a context in one table, which reset() empties."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Numba makes one manager without a context, to ask for its version.
        if self.context is not None:
            handle = int(self.context.handle)
            self.blocks = _blocks_of_contexts.setdefault(handle, self.blocks)


_numba_memory_manager = Manager
