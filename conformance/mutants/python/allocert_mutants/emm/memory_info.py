"""Plugins with a faulty get_memory_info()."""

from numba.cuda import MemoryInfo
from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import Manager


class PlainTuple(Manager):
    """Returns memory information as a tuple without names."""

    def get_memory_info(self) -> tuple[int, ...]:
        return tuple(super().get_memory_info())


class RaisesLookupError(Manager):
    """Raises LookupError instead of RuntimeError."""

    def get_memory_info(self) -> MemoryInfo:
        raise LookupError("not supported by this plugin")


class Swapped(Manager):
    """Reports more free memory than total memory."""

    def get_memory_info(self) -> MemoryInfo:
        free, total = super().get_memory_info()
        return MemoryInfo(free=total, total=free - 1)


class Constant(Manager):
    """Reports the same numbers for ever."""

    def get_memory_info(self) -> MemoryInfo:
        return MemoryInfo(free=1 << 30, total=1 << 30)


class OfDevice0(Manager):
    """Reports the memory of device 0, whichever context the manager belongs to."""

    def get_memory_info(self) -> MemoryInfo:
        first = driver.cuDevicePrimaryCtxRetain(0)
        driver.cuCtxPushCurrent(first)
        try:
            return super().get_memory_info()
        finally:
            driver.cuCtxPopCurrent()
            driver.cuDevicePrimaryCtxRelease(0)


class Synchronizes(Manager):
    """Waits for the device before it reports memory information."""

    def get_memory_info(self) -> MemoryInfo:
        driver.cuCtxSynchronize()
        return super().get_memory_info()


class DeclinesInScope(Manager):
    """Raises RuntimeError inside defer_cleanup(), and answers outside of it."""

    def get_memory_info(self) -> MemoryInfo:
        if self.blocks.deferring:
            raise RuntimeError("the counters change at the end of the scope")
        return super().get_memory_info()
