"""Plugins that keep memory for later requests."""

from collections.abc import Callable

from allocert_mutants.emm.conforming_plugin import OUT_OF_MEMORY, Manager
from numba.cuda import MemoryPointer
from numba.cuda.cudadrv.driver import CudaAPIError, driver


class Pool:
    """Idle blocks of one context by size. The process keeps it after the manager is gone."""

    def __init__(self) -> None:
        self.idle: dict[int, list[int]] = {}

    def take(self, size: int) -> int:
        idle = self.idle.get(size)
        if idle:
            return idle.pop()
        try:
            return int(driver.cuMemAlloc(size))
        except CudaAPIError as error:
            if error.code != OUT_OF_MEMORY:
                raise
        self.free_idle()
        return int(driver.cuMemAlloc(size))

    def give_back(self, size: int, address: int) -> None:
        self.idle.setdefault(size, []).append(address)

    def free_idle(self) -> None:
        while self.idle:
            for address in self.idle.popitem()[1]:
                driver.cuMemFree(address)


#: By context: a later context has addresses of its own.
_POOLS: dict[int, Pool] = {}


class PoolBeyondContext(Manager):
    """Keeps released device memory for the next request until the process ends."""

    def memalloc(self, size: int) -> MemoryPointer:
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        pool = _POOLS.setdefault(int(self.context.handle), Pool())
        size_bytes = max(size, 1)
        address = pool.take(size_bytes)
        return self.wrap(address, size, _once(lambda: pool.give_back(size_bytes, address)))


def _once(give_back: Callable[[], None]) -> Callable[[], None]:
    """Makes a finalizer that does its work at the first call alone."""
    work = [give_back]

    def finalizer() -> None:
        if work:
            work.pop()()

    return finalizer


_numba_memory_manager = PoolBeyondContext
