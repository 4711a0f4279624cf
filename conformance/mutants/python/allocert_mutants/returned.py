"""Faults in what memalloc returns."""

import ctypes
import functools
import weakref

from numba.cuda import MemoryPointer
from numba.cuda.cudadrv.driver import AutoFreePointer, binding, driver

from .honest import Manager


class ReturnsNone(Manager):
    """Numba makes a null pointer of it without a word."""

    def memalloc(self, size):
        self.blocks.allocate(size)


class ReturnsInt(Manager):
    def memalloc(self, size):
        return self.blocks.live[self.blocks.allocate(size)]


class CtypesPointer(Manager):
    """The pointer type that NBEP 7 names and that today's Numba cannot convert."""

    def wrap(self, address, size, finalizer):
        pointer = ctypes.c_uint64(address)
        return MemoryPointer(weakref.proxy(self.context), pointer, size, finalizer=finalizer)


class BareAutoFree(Manager):
    """The first slice that dies takes the whole allocation with it."""

    def wrap(self, address, size, finalizer):
        context = weakref.proxy(self.context)
        return AutoFreePointer(context, binding.CUdeviceptr(address), size, finalizer=finalizer)


class RoundsSize(Manager):
    def wrap(self, address, size, finalizer):
        return super().wrap(address, -(-size // 512) * 512, finalizer)


class NullPointer(Manager):
    def wrap(self, address, size, finalizer):
        return super().wrap(0, size, finalizer)


class ZeroCollides(Manager):
    """No bytes have address 0, and a table by address wants each address once."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.table = set()

    def memalloc(self, size):
        if size:
            return super().memalloc(size)
        assert 0 not in self.table
        self.table.add(0)
        return self.wrap(0, 0, functools.partial(self.table.discard, 0))


class Misaligned(Manager):
    def memalloc(self, size):
        token = self.blocks.allocate(size + 8)
        return self.wrap(self.blocks.live[token] + 8, size, self.finalizer(token))


class TooShort(Manager):
    """Says the size that was asked for and has half of it."""

    def memalloc(self, size):
        token = self.blocks.allocate(size // 2)
        return self.wrap(self.blocks.live[token], size, self.finalizer(token))


class NegativeIsNone(Manager):
    def memalloc(self, size):
        return super().memalloc(max(size, 0))


class SameBlockAgain(Manager):
    """Gives the last block of the same size out a second time."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.last = {}

    def memalloc(self, size):
        if size not in self.last or self.last[size] not in self.blocks.live:
            self.last[size] = self.blocks.allocate(size)
        token = self.last[size]
        return self.wrap(self.blocks.live[token], size, self.finalizer(token))


class NoContext(Manager):
    def wrap(self, address, size, finalizer):
        return MemoryPointer(None, binding.CUdeviceptr(address), size, finalizer=finalizer)


class FirstContext(Manager):
    first = None

    def memalloc(self, size):
        memory = super().memalloc(size)
        FirstContext.first = FirstContext.first or memory.context
        memory.context = FirstContext.first
        return memory


class OwnerSet(Manager):
    def wrap(self, address, size, finalizer):
        context = weakref.proxy(self.context)
        return MemoryPointer(
            context, binding.CUdeviceptr(address), size, owner=self, finalizer=finalizer
        )


class NoFinalizer(Manager):
    def wrap(self, address, size, finalizer):
        return super().wrap(address, size, None)


class WrongDevice(Manager):
    """Allocates on device 0, whatever the context."""

    def memalloc(self, size):
        before = driver.cuCtxGetCurrent()
        driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0))
        try:
            return super().memalloc(size)
        finally:
            driver.cuCtxSetCurrent(before)


class Leaks(Manager):
    """Takes a second block for each that it gives out, and forgets it."""

    def memalloc(self, size):
        driver.cuMemAlloc(max(size, 1))
        return super().memalloc(size)


class LacksManaged(Manager):
    """What a plugin on the bare base class does, which has no method for managed memory."""

    def memallocmanaged(self, size, attach_global):
        raise AttributeError("'Plugin' object has no attribute 'memallocmanaged'")


class InitializeForgets(Manager):
    """A further initialize() drops the books, and with them every live allocation."""

    def initialize(self):
        super().initialize()
        self.blocks.reset()
