"""Plugins that call the host memory of HostOnlyCUDAMemoryManager, and then break it themselves."""

import functools
import weakref
from typing import Any

from numba.cuda import PinnedMemory
from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import HostMemory, Manager


class DelegatesAndKeepsOwn(Manager):
    """Leaves mapped memory to the base class, and frees its own pinned memory at no reset."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        if mapped:
            return super().memhostalloc(size, mapped, portable, wc)
        pointer = int(driver.cuMemHostAlloc(size, 4 * wc | 1 * portable))
        return PinnedMemory(
            weakref.proxy(self.context),
            pointer,
            size,
            finalizer=functools.partial(driver.cuMemFreeHost, pointer),
        )


class DelegatesAndStages(Manager):
    """Calls the base class, and takes a staging buffer for each request that it never frees."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        driver.cuMemHostAlloc(size, 0)
        return super().memhostalloc(size, mapped, portable, wc)


class DelegatesAndPinsItself(Manager):
    """Leaves host memory to the base class, pins regions itself, and unpins none at reset."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        return super().memhostalloc(size, mapped, portable, wc)

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        if mapped:
            return super().mempin(owner, pointer, size, mapped)
        driver.cuMemHostRegister(pointer, size, 0)
        return PinnedMemory(
            weakref.proxy(self.context),
            pointer,
            size,
            owner=owner,
            finalizer=functools.partial(driver.cuMemHostUnregister, pointer),
        )


class KeepsDelegatedMemory(Manager):
    """Keeps every object that the base class made, so that its release never comes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.made: list[HostMemory] = []

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        memory = super().memhostalloc(size, mapped, portable, wc)
        self.made.append(memory)
        return memory
