"""Plugins with a faulty memhostalloc() or mempin()."""

import ctypes
import functools
import weakref
from typing import Any

from numba.cuda import HostOnlyCUDAMemoryManager, MappedMemory, PinnedMemory
from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import HostMemory, Manager


class PinDropsOwner(Manager):
    """Does not keep the owner of a pinned buffer alive."""

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        return super().mempin(None, pointer, size, mapped)


class PinFirst64Bytes(Manager):
    """Pins the first 64 bytes of a region and reports all of it."""

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        memory = super().mempin(owner, pointer, min(size, 64), mapped)
        memory.size = size
        return memory


class NeverUnpins(Manager):
    """Never unpins a region."""

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        driver.cuMemHostRegister(pointer, size, 2 if mapped else 0)
        context = weakref.proxy(self.context)
        if mapped:
            return MappedMemory(context, pointer, size, owner=owner, finalizer=lambda: None)
        return PinnedMemory(context, pointer, size, owner=owner, finalizer=lambda: None)


class NeverMapped(Manager):
    """Never maps host memory."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        return super().memhostalloc(size, False, portable, wc)


class RoundsSize(Manager):
    """Reports the size rounded up to whole pages."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        return super().memhostalloc(-(-size // 4096) * 4096, mapped, portable, wc)


class MappedWithoutBuffer(Manager):
    """Returns mapped memory without the buffer protocol.

    The documentation asks for a MappedMemory; no array can be made of it.
    """

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        if not mapped:
            return super().memhostalloc(size, mapped, portable, wc)
        flags = 2 | (1 if portable else 0) | (4 if wc else 0)
        pointer = driver.cuMemHostAlloc(size, flags)
        context = weakref.proxy(self.context)
        return MappedMemory(context, pointer, size, finalizer=lambda: driver.cuMemFreeHost(pointer))


class PinErrorIsNone(Manager):
    """Returns None when the driver fails to pin."""

    def mempin(
        self, owner: Any, pointer: int, size: int, mapped: bool = False
    ) -> HostMemory | None:
        try:
            return super().mempin(owner, pointer, size, mapped)
        except Exception:  # noqa: BLE001 - the mutation
            return None


class CtypesAddress(Manager):
    """Returns pinned memory whose address is a ctypes.c_void_p, as the documentation shows."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        if mapped:
            return super().memhostalloc(size, mapped, portable, wc)
        pointer = int(driver.cuMemHostAlloc(size, 0))
        self.allocations[pointer] = pointer
        context = weakref.proxy(self.context)
        return PinnedMemory(
            context, ctypes.c_void_p(pointer), size, finalizer=lambda: self._free(pointer)
        )

    def _free(self, pointer: int) -> None:
        if self.allocations.pop(pointer, None) is not None:
            driver.cuMemFreeHost(pointer)

    def reset(self) -> None:
        for pointer in [key for key in self.allocations if type(self.allocations[key]) is int]:
            self._free(pointer)
        super().reset()


class EmptyPinIsUntyped(Manager):
    """Raises a KeyError when no bytes are to be pinned."""

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        if size == 0:
            raise KeyError(pointer)
        return super().mempin(owner, pointer, size, mapped)


class DropsPortable(Manager):
    """Passes mapped and write-combined on, and not portable."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        return super().memhostalloc(size, mapped, False, wc)


class ForgetsFlags(Manager):
    """Reuses released pinned memory of the same size, whatever flags it was allocated with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owned: list[int] = []
        self.released: dict[tuple[int, bool], list[int]] = {}

    def key(self, size: int, wc: bool) -> tuple[int, bool]:
        """Requests of the same key are served with the same memory."""
        return size, False

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        if mapped:
            return super().memhostalloc(size, mapped, portable, wc)
        waiting = self.released.setdefault(self.key(size, wc), [])
        if not waiting:
            flags = 4 * wc | 1 * portable
            waiting.append(int(driver.cuMemHostAlloc(size, flags)))
            self.owned.append(waiting[-1])
        pointer = waiting.pop()
        context = weakref.proxy(self.context)
        return PinnedMemory(
            context, pointer, size, finalizer=functools.partial(waiting.append, pointer)
        )

    def reset(self) -> None:
        super().reset()
        self.released.clear()
        while self.owned:
            driver.cuMemFreeHost(self.owned.pop())


class ForgetsPortable(ForgetsFlags):
    """Reuses released pinned memory of the same size and write-combined flag."""

    def key(self, size: int, wc: bool) -> tuple[int, bool]:
        return size, wc


class EmptyRequestInScopeFreesBlocks(Manager):
    """Frees all device memory when no bytes of host memory are requested inside a scope."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        if size == 0 and self.blocks.deferring:
            self.blocks.reset()
        return super().memhostalloc(size, mapped, portable, wc)


class EmptyRequestOverwritesBlocks(Manager):
    """Clears the first byte of each device block when no bytes of host memory are requested."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        if size == 0:
            for address in self.blocks.live.values():
                driver.cuMemsetD8(address, 0, 1)
        return super().memhostalloc(size, mapped, portable, wc)


class EmptyPinFreesHostMemory(Manager):
    """Frees all host memory when no bytes are to be pinned."""

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        if size == 0:
            HostOnlyCUDAMemoryManager.reset(self)
        return super().mempin(owner, pointer, size, mapped)


class RefusesPortable(Manager):
    """Raises NotImplementedError where host memory is to be portable."""

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        if portable:
            raise NotImplementedError("portable host memory")
        return super().memhostalloc(size, mapped, portable, wc)


class RefusesMappedPins(Manager):
    """Raises NotImplementedError where a region is to be mapped."""

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        if mapped:
            raise NotImplementedError("mapped regions")
        return super().mempin(owner, pointer, size, mapped)
