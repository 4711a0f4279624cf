"""Faults in host memory."""

import ctypes
import weakref

from numba.cuda import MappedMemory, PinnedMemory
from numba.cuda.cudadrv.driver import driver

from .honest import Manager


class KeepsNoOwner(Manager):
    """Nothing keeps the pinned buffer alive."""

    def mempin(self, owner, pointer, size, mapped=False):
        return super().mempin(None, pointer, size, mapped)


class NeverUnpins(Manager):
    def mempin(self, owner, pointer, size, mapped=False):
        driver.cuMemHostRegister(pointer, size, 2 if mapped else 0)
        context = weakref.proxy(self.context)
        if mapped:
            return MappedMemory(context, pointer, size, owner=owner, finalizer=lambda: None)
        return PinnedMemory(context, pointer, size, owner=owner, finalizer=lambda: None)


class NeverMapped(Manager):
    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        return super().memhostalloc(size, False, portable, wc)


class RoundsSize(Manager):
    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        return super().memhostalloc(-(-size // 4096) * 4096, mapped, portable, wc)


class BareMapped(Manager):
    """Returns MappedMemory itself, as the documentation says; it has no buffer for an array to lie on."""

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        if not mapped:
            return super().memhostalloc(size, mapped, portable, wc)
        flags = 2 | (1 if portable else 0) | (4 if wc else 0)
        pointer = driver.cuMemHostAlloc(size, flags)
        context = weakref.proxy(self.context)
        return MappedMemory(context, pointer, size, finalizer=lambda: driver.cuMemFreeHost(pointer))


class SwallowsError(Manager):
    def mempin(self, owner, pointer, size, mapped=False):
        try:
            return super().mempin(owner, pointer, size, mapped)
        except Exception:
            return None


class CtypesAddress(Manager):
    """Pinned memory at a c_void_p, as the documentation says."""

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        if mapped:
            return super().memhostalloc(size, mapped, portable, wc)
        pointer = int(driver.cuMemHostAlloc(size, 0))
        self.allocations[pointer] = pointer
        context = weakref.proxy(self.context)
        return PinnedMemory(
            context, ctypes.c_void_p(pointer), size, finalizer=lambda: self._free(pointer)
        )

    def _free(self, pointer):
        if self.allocations.pop(pointer, None) is not None:
            driver.cuMemFreeHost(pointer)

    def reset(self):
        for pointer in [key for key in self.allocations if type(self.allocations[key]) is int]:
            self._free(pointer)
        super().reset()
