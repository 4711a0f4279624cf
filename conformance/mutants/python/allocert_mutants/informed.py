"""Faults in get_memory_info()."""

from numba.cuda import MemoryInfo
from numba.cuda.cudadrv.driver import driver

from .honest import Manager


class PlainTuple(Manager):
    def get_memory_info(self):
        return tuple(super().get_memory_info())


class RaisesRuntimeError(Manager):
    """What the prose of the documentation once said, where callers look for NotImplementedError."""

    def get_memory_info(self):
        raise RuntimeError("not supported by this plugin")


class Swapped(Manager):
    def get_memory_info(self):
        free, total = super().get_memory_info()
        return MemoryInfo(free=total, total=free - 1)


class Constant(Manager):
    def get_memory_info(self):
        return MemoryInfo(free=1 << 30, total=1 << 30)


class OfFirstDevice(Manager):
    def get_memory_info(self):
        first = driver.cuDevicePrimaryCtxRetain(0)
        driver.cuCtxPushCurrent(first)
        try:
            return super().get_memory_info()
        finally:
            driver.cuCtxPopCurrent()
            driver.cuDevicePrimaryCtxRelease(0)


class Synchronizes(Manager):
    def get_memory_info(self):
        driver.cuCtxSynchronize()
        return super().get_memory_info()
