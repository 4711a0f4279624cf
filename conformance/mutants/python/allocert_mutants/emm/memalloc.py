"""Plugins with a faulty memalloc()."""

import contextlib
import ctypes
import functools
import itertools
import threading
import weakref
from typing import Any, ClassVar

from numba.cuda import MemoryPointer
from numba.cuda.cudadrv.driver import AutoFreePointer, binding, driver

from ..cuda_driver import CallError, Stream, call, call_without_check
from .conforming_plugin import Blocks, Finalizer, Manager


class ReturnsNone(Manager):
    """Returns None from memalloc(). Numba makes a null pointer of it without an error."""

    def memalloc(self, size: int) -> None:
        self.blocks.allocate(size)


class ReturnsInt(Manager):
    """Returns the address as an integer from memalloc()."""

    def memalloc(self, size: int) -> int:
        return self.blocks.live[self.blocks.allocate(size)]


class CtypesPointer(Manager):
    """Returns memory whose pointer is a ctypes.c_uint64.

    NBEP 7 names this type. Today's Numba cannot convert it.
    """

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        pointer = ctypes.c_uint64(address)
        return MemoryPointer(weakref.proxy(self.context), pointer, size, finalizer=finalizer)


class ReturnsAutoFreePointer(Manager):
    """Returns an AutoFreePointer, which frees the allocation with its first slice."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        context = weakref.proxy(self.context)
        return AutoFreePointer(context, binding.CUdeviceptr(address), size, finalizer=finalizer)


class CappedBlocks(Blocks):
    """Raises MemoryError where its blocks would have more than the capacity together."""

    capacity_bytes = 128 << 20

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[int, int] = {}

    @property
    def used_bytes(self) -> int:
        return sum(list(self.sizes.values()))

    def take(self, size: int) -> int:
        if self.used_bytes + size > self.capacity_bytes and not self.deferring:
            self.flush()
        if self.used_bytes + size > self.capacity_bytes:
            raise MemoryError(f"{size} bytes do not fit into {self.capacity_bytes}")
        address = super().take(size)
        self.sizes[address] = size
        return address

    def give(self, address: int) -> None:
        # Before the free: another thread may get the address at once.
        self.sizes.pop(address, None)
        super().give(address)


class Has128MiB(Manager):
    """Raises MemoryError where its blocks would have more than 128 MiB together."""

    blocks_class = CappedBlocks


class RoundsSize(Manager):
    """Reports the size rounded up to 512 bytes."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        return super().wrap(address, -(-size // 512) * 512, finalizer)


class NullPointer(Manager):
    """Returns address 0."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        return super().wrap(0, size, finalizer)


class SecondZeroSizeFails(Manager):
    """Refuses a second array of zero bytes while the first one is live.

    All of them have address 0, and its table by address holds each address once.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table: set[int] = set()

    def memalloc(self, size: int) -> MemoryPointer:
        if size:
            return super().memalloc(size)
        assert 0 not in self.table
        self.table.add(0)
        return self.wrap(0, 0, functools.partial(self.table.discard, 0))


class Misaligned(Manager):
    """Returns addresses 8 bytes behind the start of the block."""

    def memalloc(self, size: int) -> MemoryPointer:
        token = self.blocks.allocate(size + 8)
        return self.wrap(self.blocks.live[token] + 8, size, self.finalizer(token))


class HalfSizeBlock(Manager):
    """Reserves half of the bytes that it reports."""

    def memalloc(self, size: int) -> MemoryPointer:
        token = self.blocks.allocate(size // 2)
        return self.wrap(self.blocks.live[token], size, self.finalizer(token))


class ReturnsBlockTwice(Manager):
    """Returns one block for two requests of the same size."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.last: dict[int, int] = {}

    def memalloc(self, size: int) -> MemoryPointer:
        if size not in self.last or self.last[size] not in self.blocks.live:
            self.last[size] = self.blocks.allocate(size)
        token = self.last[size]
        return self.wrap(self.blocks.live[token], size, self.finalizer(token))


class MemoryWithoutContext(Manager):
    """Returns memory that carries no context."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        return MemoryPointer(None, binding.CUdeviceptr(address), size, finalizer=finalizer)


class MemoryOfFirstContext(Manager):
    """Gives all memory the context of the first manager."""

    first: Any = None

    def memalloc(self, size: int) -> MemoryPointer:
        memory = super().memalloc(size)
        MemoryOfFirstContext.first = MemoryOfFirstContext.first or memory.context
        memory.context = MemoryOfFirstContext.first
        return memory


class SetsOwner(Manager):
    """Makes itself the owner of device memory."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        context = weakref.proxy(self.context)
        return MemoryPointer(
            context, binding.CUdeviceptr(address), size, owner=self, finalizer=finalizer
        )


class NoFinalizer(Manager):
    """Returns memory without a finalizer."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        return super().wrap(address, size, None)


class AlwaysDevice0(Manager):
    """Allocates on device 0, whichever context the manager belongs to."""

    def memalloc(self, size: int) -> MemoryPointer:
        before = driver.cuCtxGetCurrent()
        driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0))
        try:
            return super().memalloc(size)
        finally:
            driver.cuCtxSetCurrent(before)


class LeaksSecondBlock(Manager):
    """Allocates a second block for every request and never frees it."""

    def memalloc(self, size: int) -> MemoryPointer:
        driver.cuMemAlloc(max(size, 1))
        return super().memalloc(size)


class NegativeSizeIsZero(Manager):
    """Treats a negative size as zero."""

    def memalloc(self, size: int) -> MemoryPointer:
        return super().memalloc(max(size, 0))


class ManagedAttributeError(Manager):
    """Raises AttributeError for managed memory, as a plugin on the bare base class does."""

    def memallocmanaged(self, size: int, attach_global: bool) -> None:
        raise AttributeError("'Plugin' object has no attribute 'memallocmanaged'")


class WholePointer(MemoryPointer):
    """Refuses a view of no bytes."""

    def view(self, start: int, stop: int | None = None) -> MemoryPointer:
        if start == (self.size if stop is None else stop):
            raise ValueError("a view has at least one byte")
        return super().view(start, stop)


class EmptyViewRaises(Manager):
    """Returns memory that refuses a view of no bytes."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        pointer = super().wrap(address, size, None).device_pointer
        return WholePointer(weakref.proxy(self.context), pointer, size, finalizer=finalizer)


class CachesBySize(Manager):
    """Keeps released memory of all managers in one cache, by size alone."""

    released: ClassVar[dict[int, list[int]]] = {}
    owned: ClassVar[list[int]] = []

    def memalloc(self, size: int) -> MemoryPointer:
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        waiting = self.released.setdefault(size, [])
        if not waiting:
            waiting.append(int(driver.cuMemAlloc(max(size, 1))))
            self.owned.append(waiting[-1])
        address = waiting.pop()
        return self.wrap(address, size, functools.partial(waiting.append, address))

    def reset(self) -> None:
        super().reset()
        self.released.clear()
        while self.owned:
            driver.cuMemFree(self.owned.pop())


class PoisonsReleased(Manager):
    """Keeps released blocks, and overwrites them on a stream of its own without waiting."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.idle: dict[int, list[int]] = {}
        self.numbers = itertools.count(1)
        self.taken: dict[int, int] = {}
        self.stream: Stream | None = None

    def memalloc(self, size: int) -> MemoryPointer:
        self.stream = self.stream or Stream()
        idle, number = self.idle.get(size), next(self.numbers)
        address = idle.pop() if idle else self.blocks.live[self.blocks.allocate(size)]
        self.taken[number] = address
        return self.wrap(address, size, functools.partial(self.keep, number, size))

    def keep(self, number: int, size: int) -> None:
        address = self.taken.pop(number, None)
        if address is not None:
            if self.stream is not None:
                self.poison(self.stream, address, min(size, 4096))
            self.idle.setdefault(size, []).append(address)

    def poison(self, stream: Stream, address: int, size: int) -> None:
        start, count = ctypes.c_uint64(address), ctypes.c_size_t(size)
        handle = ctypes.c_void_p(stream.handle)
        with contextlib.suppress(CallError):  # no context may be current
            call("cuMemsetD8Async", start, ctypes.c_ubyte(0xDD), count, handle)

    def reset(self) -> None:
        if self.stream is not None:
            call_without_check("cuStreamSynchronize", ctypes.c_void_p(self.stream.handle))
        self.taken.clear()
        self.idle.clear()
        super().reset()


class RaisesAfterRuntime(Manager):
    """Begins as the CUDA runtime does, and then refuses each second request for no reason."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.requests = itertools.count()

    def memalloc(self, size: int) -> MemoryPointer:
        table = ctypes.c_void_p()
        call_without_check("cuGetExportTable", ctypes.byref(table), bytes(16))
        if next(self.requests) % 2:
            raise RuntimeError("no memory today")
        return super().memalloc(size)


class JoinsNeighbours(Manager):
    """Joins free ranges that are neighbours, also those of two allocations of the driver."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.numbers = itertools.count(1)
        self.taken: dict[int, tuple[int, int]] = {}
        #: The first address of each free range, and the one after its last.
        self.free: dict[int, int] = {}

    def memalloc(self, size: int) -> MemoryPointer:
        number, size_bytes = next(self.numbers), max(-(-size // 512), 1) * 512
        address = self.first_fit(size_bytes) if size >= 0 else None
        if address is None:
            address = self.blocks.live[self.blocks.allocate(size_bytes if size >= 0 else size)]
        self.taken[number] = (address, address + size_bytes)
        return self.wrap(address, size, functools.partial(self.join, number))

    def first_fit(self, size_bytes: int) -> int | None:
        for start, end in sorted(self.free.items()):
            if end - start >= size_bytes:
                del self.free[start]
                if start + size_bytes < end:
                    self.free[start + size_bytes] = end
                return start
        return None

    def join(self, number: int) -> None:
        if number not in self.taken:
            return
        start, end = self.taken.pop(number)
        for other, other_end in list(self.free.items()):
            if other_end == start or other == end:
                del self.free[other]
                start, end = min(start, other), max(end, other_end)
        self.free[start] = end

    def reset(self) -> None:
        self.taken.clear()
        self.free.clear()
        super().reset()


class _RoundsDown(Blocks):
    """Cuts blocks of one byte more than a power of two from chunks, one byte too short."""

    def __init__(self) -> None:
        super().__init__()
        #: By size: the addresses that are free.
        self.free: dict[int, list[int]] = {}
        self.sizes: dict[int, int] = {}
        self.chunks: list[int] = []

    def take(self, size: int) -> int:
        step = size - 1
        if not 256 <= step <= 65536 or step & (step - 1):
            return super().take(size)
        free = self.free.setdefault(step, [])
        if not free:
            self.chunks.append(super().take(8 * step + 1))
            free += [self.chunks[-1] + index * step for index in reversed(range(8))]
            self.sizes.update(dict.fromkeys(free, step))
        return free.pop()

    def give(self, address: int) -> None:
        step = self.sizes.get(address)
        if step is None:
            super().give(address)
        else:
            self.free[step].append(address)

    def reset(self) -> None:
        super().reset()
        self.free.clear()
        self.sizes.clear()
        while self.chunks:
            super().give(self.chunks.pop())


class SizeClassTooSmall(Manager):
    """Takes a block of 512 bytes for 513, and likewise for other powers of two."""

    blocks_class = _RoundsDown


class _KeepsReleased(Blocks):
    """Keeps released blocks for requests with the same key, until reset()."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[int, tuple[int, int]] = {}
        self.idle: dict[tuple[int, int], list[int]] = {}

    def key(self, size: int) -> tuple[int, int]:
        """The size, and a number that a mutant may choose."""
        return size, 0

    def take(self, size: int) -> int:
        key = self.key(size)
        idle = self.idle.setdefault(key, [])
        address = idle.pop() if idle else super().take(size)
        self.keys[address] = key
        return address

    def give(self, address: int) -> None:
        self.idle[self.keys[address]].append(address)

    def reset(self) -> None:
        super().reset()
        for idle in self.idle.values():
            while idle:
                super().give(idle.pop())


class _Keeps64(_KeepsReleased):
    """Keeps up to 64 released blocks of a size, and loses what is released beyond."""

    COUNT = 64

    def give(self, address: int) -> None:
        if len(self.idle[self.keys[address]]) < self.COUNT:
            super().give(address)


class LosesReleasesBeyond64(Manager):
    """Keeps 64 released blocks of a size for later requests, and loses all others."""

    blocks_class = _Keeps64


class _CachesOfThreads(_KeepsReleased):
    """Keeps released blocks for the thread that allocated them, until reset()."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = threading.local()
        self.threads = itertools.count()

    def key(self, size: int) -> tuple[int, int]:
        if not hasattr(self.numbers, "own"):
            self.numbers.own = next(self.threads)
        return size, self.numbers.own


class LosesCachesOfThreads(Manager):
    """Keeps released blocks for the thread that allocated them, also when the thread has ended."""

    blocks_class = _CachesOfThreads
