"""Hosts whose base classes for plugins are faulty."""

import contextlib
import ctypes
from typing import Any

from numba.cuda.cudadrv import driver as numba_driver

from .mutant_registry import Function, around, mutant

HostOnly = numba_driver.HostOnlyCUDAMemoryManager


@mutant
def base_lacks_host_memory(_host: Any) -> None:
    """Provides a base class that allocates no host memory."""

    def memhostalloc(
        self: Any, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> None:
        raise NotImplementedError("left to the plugin")

    HostOnly.memhostalloc = memhostalloc


@mutant
def base_initialize_abstract(_host: Any) -> None:
    """Provides a base class whose initialize() is abstract."""
    HostOnly.initialize = numba_driver.BaseCUDAMemoryManager.initialize


@mutant
def base_reset_does_nothing(_host: Any) -> None:
    """Provides a base class whose reset() does nothing."""
    HostOnly.reset = lambda self: None


@mutant
def base_defer_does_nothing(_host: Any) -> None:
    """Provides a base class whose defer_cleanup() does nothing."""
    HostOnly.defer_cleanup = lambda self: contextlib.nullcontext()


def _refuse_pointers(kind: type) -> None:
    for cls in (numba_driver.MemoryPointer, numba_driver.MappedMemory, numba_driver.PinnedMemory):

        @around(cls, "__init__")
        def __init__(
            original: Function, self: Any, context: Any, pointer: Any, *args: Any, **kwargs: Any
        ) -> None:
            if isinstance(pointer, kind):
                raise TypeError(f"an address cannot be a {kind.__name__}")
            original(self, context, pointer, *args, **kwargs)


@mutant
def refuses_c_void_p(_host: Any) -> None:
    """Refuses a pointer that is a c_void_p."""
    _refuse_pointers(ctypes.c_void_p)


@mutant
def refuses_c_uint64(_host: Any) -> None:
    """Refuses a pointer that is a c_uint64."""
    _refuse_pointers(ctypes.c_uint64)


@mutant
def mixin_offset_zero(_host: Any) -> None:
    """Provides a GetIpcHandleMixin that reports offset 0."""

    @around(numba_driver.GetIpcHandleMixin, "get_ipc_handle")
    def get_ipc_handle(original: Function, self: Any, memory: Any) -> Any:
        handle = original(self, memory)
        handle.offset = 0
        return handle


@mutant
def member_not_abstract(_host: Any) -> None:
    """Provides a base class in which get_ipc_handle() is not abstract."""
    base = numba_driver.BaseCUDAMemoryManager
    base.__abstractmethods__ = base.__abstractmethods__ - {"get_ipc_handle"}


@mutant
def mapped_memory_apart(host: Any) -> None:
    """Provides a MappedMemory that is no MemoryPointer."""
    members = dict(vars(numba_driver.MappedMemory))
    host.MappedMemory = type("MappedMemory", (), {"__doc__": members["__doc__"]})


@mutant
def pointer_argument_renamed(host: Any) -> None:
    """Provides a MemoryPointer whose argument `pointer` has another name."""

    class MemoryPointer(numba_driver.MemoryPointer):
        def __init__(
            self, context: Any, address: Any, size: int, owner: Any = None, finalizer: Any = None
        ) -> None:
            super().__init__(context, address, size, owner=owner, finalizer=finalizer)

    host.MemoryPointer = MemoryPointer


@mutant
def default_defers_nothing(_host: Any) -> None:
    """Defers nothing in defer_cleanup() without a plugin."""
    manager = numba_driver.NumbaCUDAMemoryManager
    manager.defer_cleanup = lambda self: contextlib.nullcontext()


@mutant
def default_frees_nothing(_host: Any) -> None:
    """Frees no device memory without a plugin."""
    kept: list[Any] = []

    @around(numba_driver.NumbaCUDAMemoryManager, "memalloc")
    def memalloc(original: Function, self: Any, size: int) -> Any:
        kept.append(original(self, size))
        return kept[-1]


@mutant
def mapped_count_begins_at_two(_host: Any) -> None:
    """Counts one reference to mapped memory that nobody drops."""

    @around(numba_driver.MappedMemory, "__init__")
    def __init__(original: Function, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.refct += 1
