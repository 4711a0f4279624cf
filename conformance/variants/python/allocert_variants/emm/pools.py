"""Plugins that keep memory for later requests."""

import itertools
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from allocert_mutants.emm.conforming_plugin import OUT_OF_MEMORY, Manager
from allocert_mutants.emm.memalloc import CappedBlocks
from numba.cuda import MemoryInfo, MemoryPointer
from numba.cuda.cudadrv.driver import CudaAPIError, driver

_MIB = 1 << 20
_ALIGNMENT_BYTES = 512


class Pool:
    """Hands blocks out and takes them back.

    A finalizer gives a block back in any thread, and perhaps while its own thread is inside
    `take`: the block waits in a queue for whoever holds the lock.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._returned: deque[tuple[int, int]] = deque()

    def take(self, size: int) -> int:
        with self._lock:
            self._keep_returned()
            address = self.block(size)
        self._keep_unless_locked()
        return address

    def give_back(self, address: int, size: int) -> None:
        self._returned.append((address, size))
        self._keep_unless_locked()

    def _keep_unless_locked(self) -> None:
        # Whoever holds the lock comes here after it.
        while self._returned and self._lock.acquire(blocking=False):
            try:
                self._keep_returned()
            finally:
                self._lock.release()

    def _keep_returned(self) -> None:
        while self._returned:
            self.keep(*self._returned.popleft())

    def block(self, size: int) -> int:
        """The address of a block. The caller holds the lock."""
        raise NotImplementedError

    def keep(self, address: int, size: int) -> None:
        """Keeps a block, or frees it. The caller holds the lock."""
        raise NotImplementedError


class SizedPool(Pool):
    """Idle blocks by size. A block of the driver is one block of the pool."""

    def __init__(self) -> None:
        super().__init__()
        self.idle: dict[int, list[int]] = {}

    def block(self, size: int) -> int:
        idle = self.idle.get(size)
        if idle:
            return idle.pop()
        try:
            return int(driver.cuMemAlloc(size))
        except CudaAPIError as error:
            if error.code != OUT_OF_MEMORY:
                raise
        return self.block_after_refusal(size)

    def block_after_refusal(self, size: int) -> int:
        while self.idle:
            for address in self.idle.popitem()[1]:
                driver.cuMemFree(address)
        return int(driver.cuMemAlloc(size))

    def keep(self, address: int, size: int) -> None:
        self.idle.setdefault(size, []).append(address)


class KeepingPool(SizedPool):
    """Never gives a block back to the driver."""

    def block_after_refusal(self, size: int) -> int:
        return int(driver.cuMemAlloc(size))


def give_back(taken: dict[int, tuple[int, int]], pool: Pool, token: int) -> None:
    """Gives the block of a token back, unless that has been done."""
    block = taken.pop(token, None)
    if block is not None:
        pool.give_back(*block)


class PooledManager(Manager):
    """Serves device memory from a pool. Releases of the time before a reset do nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.taken: dict[int, tuple[int, int]] = {}
        self.tokens = itertools.count(1)

    @property
    def pool(self) -> Any:
        raise NotImplementedError

    def memalloc(self, size: int) -> MemoryPointer:
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        size_bytes = max(-(-size // _ALIGNMENT_BYTES), 1) * _ALIGNMENT_BYTES
        address, token = self.pool.take(size_bytes), next(self.tokens)
        self.taken[token] = (address, size_bytes)
        return self.wrap(address, size, self.finalizer_in_pool(token))

    def finalizer_in_pool(self, token: int) -> Callable[[], None]:
        taken, pool = self.taken, self.pool
        return lambda: give_back(taken, pool, token)

    def reset(self) -> None:
        super().reset()
        for token in list(self.taken):
            give_back(self.taken, self.pool, token)


#: By the address of a context's object, whichever manager the context has.
_POOLS: dict[int, tuple[weakref.ref[Any], SizedPool]] = {}


class PoolBeyondManager(PooledManager):
    """Keeps released device memory for the next request until the context ends."""

    @property
    def pool(self) -> SizedPool:
        context, pool = _POOLS.get(id(self.context), (None, SizedPool()))
        # The context of a device is another one after close(), perhaps at the same address.
        if context is None or context() is not self.context:
            pool = SizedPool()
            _POOLS[id(self.context)] = (weakref.ref(self.context), pool)
        return pool


class KeepsChunks(PooledManager):
    """Keeps every block for requests of the same size until the manager ends."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pool = KeepingPool()

    @property
    def pool(self) -> KeepingPool:
        return self._pool


class Arena(Pool):
    """Divides one block of the driver, and asks the driver for what does not fit."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__()
        self.start = int(driver.cuMemAlloc(size_bytes))
        self.end = self.start + size_bytes
        #: Free ranges: first address to the one after the last.
        self.free = {self.start: self.end}

    def block(self, size: int) -> int:
        address = self.part(size)
        return int(driver.cuMemAlloc(size)) if address is None else address

    def part(self, size: int) -> int | None:
        for start, end in sorted(self.free.items()):
            if end - start >= size:
                del self.free[start]
                if start + size < end:
                    self.free[start + size] = end
                return start
        return None

    def has(self, address: int) -> bool:
        return self.start <= address < self.end

    def keep(self, address: int, size: int) -> None:
        if not self.has(address):
            driver.cuMemFree(address)
            return
        end = address + size
        for start, other_end in self._neighbours(address, end):
            del self.free[start]
            address, end = min(address, start), max(end, other_end)
        self.free[address] = end

    def _neighbours(self, address: int, end: int) -> Iterator[tuple[int, int]]:
        return iter([one for one in self.free.items() if end == one[0] or one[1] == address])


class GrowingPool(Pool):
    """Divides chunks. A new chunk has as many bytes as all before, or the half that is left."""

    def __init__(self, first_bytes: int) -> None:
        super().__init__()
        self.chunks = [Arena(first_bytes)]

    def block(self, size: int) -> int:
        for chunk in self.chunks:
            address = chunk.part(size)
            if address is not None:
                return address
        self.chunks.append(self._new_chunk(size))
        return self.chunks[-1].block(size)

    def _new_chunk(self, least_bytes: int) -> Arena:
        size_bytes = max(least_bytes, sum(chunk.end - chunk.start for chunk in self.chunks))
        while True:
            try:
                return Arena(size_bytes)
            except CudaAPIError as error:
                if error.code != OUT_OF_MEMORY or size_bytes == least_bytes:
                    raise
            size_bytes = max(least_bytes, size_bytes // 2)

    def keep(self, address: int, size: int) -> None:
        next(chunk for chunk in self.chunks if chunk.has(address)).keep(address, size)


class ReservesHalf(PooledManager):
    """Reserves half of the device when it is initialized."""

    arena: Arena | GrowingPool | None = None

    def initialize(self) -> None:
        super().initialize()
        if self.arena is None:
            self.arena = self.reserve()

    def reserve(self) -> Arena | GrowingPool:
        return Arena(self.reserve_bytes())

    def reserve_bytes(self) -> int:
        return int(driver.cuMemGetInfo()[1]) // 2

    @property
    def pool(self) -> Arena | GrowingPool:
        assert self.arena is not None
        return self.arena

    def reset(self) -> None:
        if self.arena is not None:
            super().reset()
            return
        Manager.reset(self)


class GrowsFromQuarter(ReservesHalf):
    """Reserves a quarter of the device when it is initialized, and takes larger chunks later."""

    def reserve(self) -> GrowingPool:
        return GrowingPool(int(driver.cuMemGetInfo()[1]) // 4)


class EqualChunks(GrowingPool):
    """Divides chunks of one size. Larger blocks have chunks of their own."""

    def __init__(self, chunk_bytes: int) -> None:
        self._chunk_bytes = chunk_bytes
        super().__init__(chunk_bytes)

    def _new_chunk(self, least_bytes: int) -> Arena:
        return Arena(max(least_bytes, self._chunk_bytes))


class TakesChunksOf448MiB(ReservesHalf):
    """Takes memory from the driver in chunks of 448 MiB, into which few sizes divide well."""

    def reserve(self) -> GrowingPool:
        return EqualChunks(448 * _MIB)


class Reserves512MiB(ReservesHalf):
    """Reserves 512 MiB when it is initialized."""

    def reserve_bytes(self) -> int:
        return 512 * _MIB


#: By the address of a context's object, whichever manager the context has.
_ARENAS: dict[int, tuple[weakref.ref[Any], Arena]] = {}


class ReservesFourFifths(ReservesHalf):
    """Reserves four fifths of the device once for each context, and never gives them back."""

    def initialize(self) -> None:
        if self.arena is not None:
            return
        context, arena = _ARENAS.get(id(self.context), (None, None))
        # The context of a device is another one after close(), perhaps at the same address.
        if arena is None or context is None or context() is not self.context:
            arena = Arena(self.reserve_bytes())
            _ARENAS[id(self.context)] = (weakref.ref(self.context), arena)
        self.arena = arena

    def reserve_bytes(self) -> int:
        return int(driver.cuMemGetInfo()[0]) // 5 * 4


class ReservesFourFifthsOfAll(ReservesHalf):
    """Reserves four fifths of the whole device when it is initialized, in use or not."""

    def reserve_bytes(self) -> int:
        return int(driver.cuMemGetInfo()[1]) // 5 * 4


class _Blocks256MiB(CappedBlocks):
    capacity_bytes = 256 * _MIB
    capacity_blocks = 512

    def take(self, size: int) -> int:
        if len(self.sizes) >= self.capacity_blocks and not self.deferring:
            self.flush()
        if len(self.sizes) >= self.capacity_blocks:
            raise MemoryError(f"{len(self.sizes)} blocks are live")
        return super().take(size)


class CapacityReachedError(MemoryError):
    """A class of its own for what lies above a capacity."""


class _Blocks320MiB(CappedBlocks):
    capacity_bytes = 320 * _MIB

    def take(self, size: int) -> int:
        try:
            return super().take(size)
        except MemoryError as error:
            raise CapacityReachedError(*error.args) from error


class Has320MiB(Manager):
    """Raises its own kind of MemoryError where its blocks would have more than 320 MiB."""

    blocks_class = _Blocks320MiB


class Has256MiB(Manager):
    """Has a capacity of 256 MiB and of 512 blocks, and reports the former."""

    blocks_class = _Blocks256MiB
    blocks: _Blocks256MiB

    def get_memory_info(self) -> MemoryInfo:
        used_bytes = self.blocks.used_bytes
        total_bytes = self.blocks.capacity_bytes
        return MemoryInfo(free=total_bytes - used_bytes, total=total_bytes)


_numba_memory_manager = PoolBeyondManager
