"""Plugins that manage host memory in a way of their own."""

import ctypes
import itertools
import mmap
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

from allocert_mutants.emm.conforming_plugin import HostMemory, Manager
from numba.cuda import MappedMemory, PinnedMemory
from numba.cuda.cudadrv.driver import driver

_PORTABLE, _MAPPED, _WRITE_COMBINED = 1, 2, 4


class OwnHostMemory(Manager):
    """Allocates host memory itself, and frees it at once, inside defer_cleanup() too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.given: dict[int, Callable[[], object]] = {}
        self.tokens = itertools.count(1)
        self.kept: dict[int, MappedMemory] = {}

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        flags = _MAPPED * mapped | _PORTABLE * portable | _WRITE_COMBINED * wc
        pointer, free = self.host_pages(max(size, 1), flags)
        return self.wrap_host(pointer, size, mapped, None, free)

    def host_pages(self, size: int, flags: int) -> tuple[int, Callable[[], object]]:
        pointer = int(driver.cuMemHostAlloc(size, flags))
        return pointer, lambda: driver.cuMemFreeHost(pointer)

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        driver.cuMemHostRegister(pointer, size, _MAPPED * mapped)
        return self.wrap_host(
            pointer, size, mapped, owner, lambda: driver.cuMemHostUnregister(pointer)
        )

    def wrap_host(
        self, pointer: int, size: int, mapped: bool, owner: Any, give_back: Callable[[], object]
    ) -> HostMemory:
        token, given, kept = next(self.tokens), self.given, self.kept
        given[token] = give_back

        def release() -> None:
            work = given.pop(token, None)
            kept.pop(token, None)
            if work is not None:
                work()

        context, address = weakref.proxy(self.context), self.host_address(pointer)
        if not mapped:
            return PinnedMemory(context, address, size, owner=owner, finalizer=release)
        try:
            memory = MappedMemory(context, address, size, owner=owner, finalizer=release)
        except BaseException:
            release()
            raise
        return self.returned(memory, token)

    def host_address(self, pointer: int) -> Any:
        """The address in the type that the memory holds it in."""
        return pointer

    def returned(self, memory: MappedMemory, token: int) -> HostMemory:
        """What the host can make an array of. Kept until it is given back, as Numba does."""
        self.kept[token] = memory
        return memory.own()

    def reset(self) -> None:
        super().reset()
        while self.given:
            self.given.popitem()[1]()
        self.kept.clear()


class AlwaysPortable(OwnHostMemory):
    """Makes all host memory portable, and keeps released blocks for requests of either sort."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.released: dict[tuple[int, int], list[int]] = {}

    def host_pages(self, size: int, flags: int) -> tuple[int, Callable[[], object]]:
        flags |= _PORTABLE
        waiting = self.released.setdefault((size, flags), [])
        pointer = waiting.pop() if waiting else super().host_pages(size, flags)[0]
        return pointer, lambda: waiting.append(pointer)

    def reset(self) -> None:
        super().reset()
        for waiting in self.released.values():
            while waiting:
                driver.cuMemFreeHost(waiting.pop())


class RegistersPages(OwnHostMemory):
    """Registers pages of the operating system instead of asking the driver for host memory."""

    pages: ClassVar[list[mmap.mmap]] = []

    def host_pages(self, size: int, flags: int) -> tuple[int, Callable[[], object]]:
        if flags & _WRITE_COMBINED:
            return super().host_pages(size, flags)
        pages = mmap.mmap(-1, size)
        self.pages.append(pages)
        pointer = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        driver.cuMemHostRegister(pointer, size, flags)
        return pointer, lambda: driver.cuMemHostUnregister(pointer)


class DeviceMemoryOnly(Manager):
    """Offers no host memory, and says so."""

    allocert_capabilities = ("device_memory", "memory_info", "ipc")

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        raise NotImplementedError("this plugin has no host memory")

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        raise NotImplementedError("this plugin pins no memory")
