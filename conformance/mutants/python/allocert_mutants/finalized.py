"""Faults in finalizers."""

import threading
import weakref

from numba.cuda import MemoryPointer
from numba.cuda.cudadrv.driver import binding, driver

from .honest import Manager


class Raises(Manager):
    def finalizer(self, token):
        release = super().finalizer(token)

        def finalize():
            release()
            raise ValueError("this finalizer always raises")

        return finalize


class HoldsItself(Manager):
    """The finalizer refers to the memory that it is to finalize, so it never runs."""

    def memalloc(self, size):
        token = self.blocks.allocate(size)
        held = []

        def finalize():
            held.clear()
            self.blocks.release(token)

        memory = self.wrap(self.blocks.live[token], size, finalize)
        held.append(memory)
        return memory


class ByAddress(Manager):
    """Keeps its books by address, as several plugins do: after reset() a late finalizer frees whoever has it now."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.sizes = {}

    def memalloc(self, size):
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        address = int(driver.cuMemAlloc(max(size, 1)))
        self.sizes[address] = size

        def finalize():
            if self.sizes.pop(address, None) is not None:
                driver.cuMemFree(address)

        return self.wrap(address, size, finalize)

    def reset(self):
        super().reset()
        while self.sizes:
            driver.cuMemFree(self.sizes.popitem()[0])


class KeyErrorAfterReset(ByAddress):
    """The same, without the question whether the address is still known."""

    def memalloc(self, size):
        address = int(driver.cuMemAlloc(max(size, 1)))
        self.sizes[address] = size

        def finalize():
            del self.sizes[address]
            driver.cuMemFree(address)

        return self.wrap(address, size, finalize)


class FreesTwice(Manager):
    def finalizer(self, token):
        address, release = self.blocks.live[token], super().finalizer(token)

        def finalize():
            release()
            try:
                driver.cuMemFree(address)
            except Exception:
                pass

        return finalize


class FreesInterior(Manager):
    """Frees an address that the driver never gave out."""

    def finalizer(self, token):
        address, release = self.blocks.live[token], super().finalizer(token)

        def finalize():
            try:
                driver.cuMemFree(address + 256)
            except Exception:
                pass
            release()

        return finalize


class Forgiving(MemoryPointer):
    def free(self):
        self._finalizer()


class FreesAgain(Manager):
    """Its memory is of a class of its own, which does not ask whether it was freed before."""

    def wrap(self, address, size, finalizer):
        return Forgiving(
            weakref.proxy(self.context), binding.CUdeviceptr(address), size, finalizer=finalizer
        )


class RetainsContext(Manager):
    """Retains a primary context to work in, and never releases it."""

    def finalizer(self, token):
        release = super().finalizer(token)

        def finalize():
            driver.cuDevicePrimaryCtxRetain(0)
            release()

        return finalize


class NeedsCurrent(Manager):
    """Refuses to release where no context is current."""

    def finalizer(self, token):
        release = super().finalizer(token)

        def finalize():
            driver.cuMemGetInfo()
            release()

        return finalize


class Collected(Manager):
    """Memory that sits in a reference cycle: the finalizer waits for the garbage collector."""

    def wrap(self, address, size, finalizer):
        memory = super().wrap(address, size, finalizer)
        memory.itself = memory
        return memory


class LeavesItsContext(Manager):
    """Makes the manager's context current to release where none is, and leaves it so: a thread ends up on a second device."""

    def finalizer(self, token):
        release = super().finalizer(token)
        handle = self.context.handle

        def finalize():
            if not int(driver.cuCtxGetCurrent()):
                driver.cuCtxSetCurrent(handle)
            release()

        return finalize


class BringsAContext(Manager):
    """Makes a context of its own to release in where none is current."""

    def finalizer(self, token):
        release = super().finalizer(token)

        def finalize():
            if not int(driver.cuCtxGetCurrent()):
                driver.cuCtxCreate(None, 0, 0)
            release()

        return finalize


class HoldsContext(Manager):
    """Its memory refers to the context itself."""

    def wrap(self, address, size, finalizer):
        return MemoryPointer(self.context, binding.CUdeviceptr(address), size, finalizer=finalizer)


class NotReentrant(Manager):
    """A lock that one thread cannot take twice, and a finalizer that gives up where it would wait for itself."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.lock = threading.Lock()

    def memalloc(self, size):
        with self.lock:
            return super().memalloc(size)

    def finalizer(self, token):
        def finalize():
            if not self.lock.acquire(blocking=False):
                raise RuntimeError("the lock is taken")
            try:
                self.blocks.release(token)
            finally:
                self.lock.release()

        return finalize
