"""Plugins with a faulty memalloc()."""

import ctypes
import functools
import weakref
from typing import Any, ClassVar

from numba.cuda import MemoryPointer
from numba.cuda.cudadrv.driver import AutoFreePointer, binding, driver

from .conforming_plugin import Finalizer, Manager


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
