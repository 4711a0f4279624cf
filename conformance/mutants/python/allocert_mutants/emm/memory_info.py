"""Plugins with a faulty get_memory_info()."""

from typing import Any, ClassVar

from numba.cuda import MemoryInfo
from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import Finalizer, Manager, current


def _of_current_context() -> MemoryInfo:
    free, total = driver.cuMemGetInfo()
    return MemoryInfo(free=free, total=total)


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
        try:
            with current(first):
                return _of_current_context()
        finally:
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


class OfFirstDeviceAsked(Manager):
    """Reports the memory of the device that was asked about first, for all devices."""

    first: ClassVar[list[Any]] = []

    def get_memory_info(self) -> MemoryInfo:
        if not self.first:
            self.first.append(driver.cuCtxGetCurrent())
        with current(self.first[0]):
            return _of_current_context()


class CountsIdleBlocksTwice(Manager):
    """Adds the size of released blocks to the free memory, which has them already."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.idle_bytes = 0

    def finalizer(self, token: int) -> Finalizer:
        release, address = super().finalizer(token), self.blocks.live[token]
        _, size = driver.cuMemGetAddressRange(address)

        def finalize() -> None:
            release()
            self.idle_bytes += int(size)

        return finalize

    def get_memory_info(self) -> MemoryInfo:
        free, total = super().get_memory_info()
        return MemoryInfo(free=free + self.idle_bytes, total=total)


class OfCurrentContext(Manager):
    """Reports the memory of the context that is current."""

    def get_memory_info(self) -> MemoryInfo:
        return _of_current_context()


class UsedAsFree(Manager):
    """Reports the memory in use as free memory."""

    def get_memory_info(self) -> MemoryInfo:
        free, total = super().get_memory_info()
        return MemoryInfo(free=total - free, total=total)


class FreeAsTotal(Manager):
    """Reports the free memory as total memory."""

    def get_memory_info(self) -> MemoryInfo:
        free, _ = super().get_memory_info()
        return MemoryInfo(free=free, total=free)
