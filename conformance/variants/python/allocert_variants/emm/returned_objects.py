"""Plugins that return other objects than the reference, within what the texts allow."""

import atexit
import contextlib
import ctypes
import enum
import sys
import weakref
from collections.abc import Iterator
from typing import Any

from allocert_mutants.emm.conforming_plugin import Finalizer, HostMemory, Manager
from numba.cuda import (
    HostOnlyCUDAMemoryManager,
    IpcHandle,
    MappedMemory,
    MemoryInfo,
    MemoryPointer,
)
from numba.cuda.cudadrv.driver import driver

from .host_memory import OwnHostMemory


class DeclinesInfo(Manager):
    """Raises RuntimeError for memory information."""

    def get_memory_info(self) -> MemoryInfo:
        raise RuntimeError("a pool does not know how much memory is free")


class WithoutFinalizer(Manager):
    """Gives its memory no finalizer: only reset() gives it back."""

    def finalizer(self, token: int) -> Finalizer:
        return None  # type: ignore[return-value]


class WatchesItself(Manager):
    """Gives its memory no finalizer, and watches the end of the memory with weakref itself."""

    def memalloc(self, size: int) -> MemoryPointer:
        token = self.blocks.allocate(size)
        memory = self.wrap(self.blocks.live[token], size, None)
        weakref.finalize(memory, self.blocks.release, token).atexit = False
        return memory


class WithoutSourceInfo(Manager):
    """Leaves source_info of a handle at its default."""

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        handle = super().get_ipc_handle(memory)
        return IpcHandle(handle.base, handle.handle, handle.size, offset=handle.offset)


class Version(enum.IntEnum):
    """Versions of the interface."""

    ONE = 1


class Pointer(MemoryPointer):
    """A class of the plugin for device memory."""


class Handle(IpcHandle):
    """A class of the plugin for handles."""


class Subclasses(Manager):
    """Returns subclasses of the classes that the texts name."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        pointer = super().wrap(address, size, None).device_pointer
        return Pointer(weakref.proxy(self.context), pointer, size, finalizer=finalizer)

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        handle = super().get_ipc_handle(memory)
        return Handle(handle.base, handle.handle, handle.size, handle.source_info, handle.offset)

    @property
    def interface_version(self) -> int:
        return Version.ONE


class ReportsAtExit(Manager):
    """Writes a report to standard error at the end of the process."""

    def initialize(self) -> None:
        super().initialize()
        atexit.register(print, f"{len(self.blocks.live)} blocks are live", file=sys.stderr)


class ManagedDeviceMemory(Manager):
    """Allocates managed memory, which may be more than the device has."""

    allocert_capabilities = ("host_memory", "memory_info")

    def memalloc(self, size: int) -> MemoryPointer:
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        address = int(driver.cuMemAllocManaged(max(size, 1), 1))
        token = max(self.blocks.live, default=0) + 1
        while token in self.seen:
            token += 1
        self.seen.add(token)
        self.blocks.live[token] = address
        return self.wrap(address, size, self.finalizer(token))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seen: set[int] = set()


class SynchronizesInMemalloc(Manager):
    """Waits for the device in each memalloc(), inside defer_cleanup() too."""

    def memalloc(self, size: int) -> MemoryPointer:
        memory = super().memalloc(size)
        driver.cuCtxSynchronize()
        return memory


class ClearsMemory(Manager):
    """Fills each block with zeros before it returns it."""

    def memalloc(self, size: int) -> MemoryPointer:
        memory = super().memalloc(size)
        if size > 0:
            driver.cuMemsetD8(int(memory.device_pointer), 0, size)
        return memory


class HugeSizeError(Exception):
    """The plugin's own error for sizes that no device has."""


class OwnErrors(Manager):
    """Refuses sizes that no device could serve with an exception of its own."""

    def memalloc(self, size: int) -> MemoryPointer:
        if size >= 1 << 40:
            raise HugeSizeError(f"{size} bytes")
        return super().memalloc(size)


class FollowsNbep7(Manager):
    """Returns the types of the example in NBEP 7.

    It declares no IPC, because the mixin that it inherits is not of that text.
    """

    allocert_capabilities = ("host_memory", "device_memory", "memory_info")

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        pointer = ctypes.c_uint64(address)
        return MemoryPointer(weakref.proxy(self.context), pointer, size, finalizer=finalizer)

    def get_memory_info(self) -> Any:
        free, total = driver.cuMemGetInfo()
        return (free, total)


class FollowsDocs(OwnHostMemory):
    """Returns addresses of the type that the docs show, and the MappedMemory itself."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        pointer = ctypes.c_void_p(address)
        return MemoryPointer(weakref.proxy(self.context), pointer, size, finalizer=finalizer)

    def host_address(self, pointer: int) -> Any:
        return ctypes.c_void_p(pointer)

    def returned(self, memory: MappedMemory, token: int) -> HostMemory:
        return memory


class FollowsNbep7WithHostMemory(FollowsDocs):
    """Returns the types of the example in NBEP 7, for host memory too."""

    allocert_capabilities = FollowsNbep7.allocert_capabilities
    wrap = FollowsNbep7.wrap
    get_memory_info = FollowsNbep7.get_memory_info


class _DeviceMemoryOfInner(HostOnlyCUDAMemoryManager):
    """Overrides what the docs ask for but initialize(): another manager has the device memory."""

    inner_class: type[Manager]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.inner = self.inner_class(*args, **kwargs)

    def memalloc(self, size: int) -> MemoryPointer:
        return self.inner.memalloc(size)

    def get_memory_info(self) -> MemoryInfo:
        return self.inner.get_memory_info()

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        return self.inner.get_ipc_handle(memory)

    def reset(self) -> None:
        super().reset()
        self.inner.reset()

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super().defer_cleanup(), self.inner.defer_cleanup():
            yield

    @property
    def interface_version(self) -> int:
        return 1


class LeavesHostToBase(_DeviceMemoryOfInner):
    """Overrides what the docs ask for and nothing else."""

    inner_class = Manager

    def initialize(self) -> None:
        self.inner.initialize()


class LeavesInitializeToBase(_DeviceMemoryOfInner):
    """Implements what NBEP 7 asks of a subclass of HostOnlyCUDAMemoryManager, without initialize().

    It declares no IPC, as FollowsNbep7.
    """

    allocert_capabilities = FollowsNbep7.allocert_capabilities
    inner_class = FollowsNbep7
