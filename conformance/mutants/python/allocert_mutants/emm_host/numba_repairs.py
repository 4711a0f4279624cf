"""Repairs the known violations of numba-cuda, so that the suite finds only what a mutant adds."""

import contextlib
import ctypes
import functools
import importlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
from numba import cuda
from numba.cuda.cudadrv import driver as numba_driver

from .mutant_registry import Function, around

driver, binding = numba_driver.driver, numba_driver.binding
Context, Device = numba_driver.Context, numba_driver.Device
HostOnly = numba_driver.HostOnlyCUDAMemoryManager


def apply(host: Any) -> None:
    for repair in (
        _repair_registration,
        _accept_ctypes_pointers,
        _make_mapped_memory_usable,
        _reset_pinned_memory,
        _skip_empty_arrays,
        _release_contexts_at_close,
        _restore_current_context,
        _close_handles_after_errors,
    ):
        repair(host)


def _repair_registration(host: Any) -> None:
    def set_memory_manager(plugin: Any) -> None:
        if os.environ.get("NUMBA_CUDA_MEMORY_MANAGER", "default") != "default":
            numba_driver._ensure_memory_manager()
            warnings.warn("the plugin of NUMBA_CUDA_MEMORY_MANAGER is kept", stacklevel=2)
            return
        install(plugin)

    def ensure_memory_manager() -> None:
        if numba_driver._memory_manager:
            return
        name = os.environ.get("NUMBA_CUDA_MEMORY_MANAGER") or "default"
        if name == "default":
            numba_driver._memory_manager = numba_driver.NumbaCUDAMemoryManager
            return
        try:
            install(importlib.import_module(name)._numba_memory_manager)
        except Exception as error:
            raise RuntimeError(f"Failed to use memory manager from {name}") from error

    host.set_memory_manager = set_memory_manager
    numba_driver._ensure_memory_manager = ensure_memory_manager
    HostOnly.initialize = lambda self: None


def install(plugin: Any) -> None:
    """Makes a plugin the one that the next context uses, or refuses its version."""
    version = plugin(context=None).interface_version
    if type(version) is not int or version != 1:
        raise RuntimeError(f"EMM Plugin interface has version {version} - version 1 required")
    numba_driver._memory_manager = plugin


def _accept_ctypes_pointers(_host: Any) -> None:
    for cls in (numba_driver.MemoryPointer, numba_driver.MappedMemory, numba_driver.PinnedMemory):

        @around(cls, "__init__")
        def __init__(
            original: Function, self: Any, context: Any, pointer: Any, *args: Any, **kwargs: Any
        ) -> None:
            if isinstance(pointer, (ctypes.c_void_p, ctypes.c_uint64)):
                pointer = pointer.value
            original(self, context, pointer, *args, **kwargs)


def _make_mapped_memory_usable(host: Any) -> None:
    @around(Context, "memhostalloc")
    def memhostalloc(original: Function, *args: Any, **kwargs: Any) -> Any:
        memory = original(*args, **kwargs)
        if type(memory) is not numba_driver.MappedMemory:
            return memory
        owned = memory.own()
        owned._memory = memory
        return owned

    def mapped_array(
        shape: Any, dtype: Any = numpy.float64, portable: bool = False, wc: bool = False
    ) -> Any:
        original = Context.memhostalloc
        Context.memhostalloc = functools.partialmethod(original, portable=portable, wc=wc)
        try:
            return cuda.mapped_array(shape, dtype, portable=portable, wc=wc)
        finally:
            Context.memhostalloc = original

    host.mapped_array = mapped_array


def _reset_pinned_memory(_host: Any) -> None:
    """Frees page-locked memory that is not mapped in reset(), too."""

    @around(HostOnly, "memhostalloc")
    def memhostalloc(
        original: Function,
        self: Any,
        size: int,
        mapped: bool = False,
        portable: bool = False,
        wc: bool = False,
    ) -> Any:
        if mapped:
            return original(self, size, mapped, portable, wc)
        pointer = driver.cuMemHostAlloc(size, portable + 4 * wc)
        pinned = self.__dict__.setdefault("_pinned", {})
        pinned[int(pointer)] = pointer
        deallocations = self.deallocations

        def finalizer() -> None:
            if pinned.pop(int(pointer), None) is not None:
                deallocations.add_item(driver.cuMemFreeHost, pointer)

        return numba_driver.PinnedMemory(self.context, pointer, size, finalizer=finalizer)

    @around(HostOnly, "reset")
    def reset(original: Function, self: Any) -> None:
        original(self)
        for pointer in list(self.__dict__.get("_pinned", {}).values()):
            del self._pinned[int(pointer)]
            driver.cuMemFreeHost(pointer)


def _skip_empty_arrays(host: Any) -> None:
    """Requests no memory for arrays of no elements."""
    for name in ("pinned_array", "mapped_array"):

        @around(host, name)
        def array(original: Function, shape: Any, dtype: Any = numpy.float64, **kwargs: Any) -> Any:
            if not numpy.prod(shape):
                return numpy.empty(shape, dtype)
            return original(shape, dtype, **kwargs)


def _release_contexts_at_close(_host: Any) -> None:
    """Releases a context even if its manager's reset() raises, and retains it at its next use."""
    released: set[int] = set()

    @around(Device, "get_primary_context")
    def get_primary_context(original: Function, self: Any) -> Any:
        if self.id in released:
            released.discard(self.id)
            driver.cuDevicePrimaryCtxRetain(self.id)
        return original(self)

    def reset(self: Any) -> None:
        try:
            if self.primary_context is not None:
                self.primary_context.reset()
        finally:
            if self.primary_context is not None:
                driver.cuDevicePrimaryCtxRelease(self.id)
                self.primary_context = None
                released.add(self.id)
            driver.cuDevicePrimaryCtxReset(self.id)

    Device.reset = reset


def _restore_current_context(_host: Any) -> None:
    """Keeps the current context when the context of another device is created."""

    @around(Device, "get_primary_context")
    def get_primary_context(original: Function, self: Any) -> Any:
        before = driver.cuCtxGetCurrent()
        context = original(self)
        if int(before) and int(driver.cuCtxGetCurrent()) != int(before):
            driver.cuCtxPushCurrent(before)
        return context


def _close_handles_after_errors(host: Any) -> None:
    """Closes a handle even if an error happens after it was opened."""

    def open_staged(self: Any, context: Any) -> Any:
        source = cuda.gpus[numba_driver.Device.from_identity(self.source_info).id]
        direct = numba_driver._CudaIpcImpl(self.parent)
        with source:
            opened = direct.open(host.current_context())
        try:
            staged = context.memalloc(self.size)
            numba_driver.device_to_device(staged, opened, self.size)
            return staged
        finally:
            with source:
                direct.close()

    @contextlib.contextmanager
    def open_ipc_array(*args: Any, **kwargs: Any) -> Iterator[Any]:
        block = cuda.open_ipc_array(*args, **kwargs)
        try:
            yield block.__enter__()
        finally:
            block.__exit__(None, None, None)

    numba_driver._StagedIpcImpl.open = open_staged
    host.open_ipc_array = open_ipc_array
