"""numba-cuda without the violations that it is known for, so that a mutant is found out for its own fault alone."""

import contextlib
import ctypes
import functools
import importlib
import os
import warnings

import numpy
from numba import cuda
from numba.cuda.cudadrv import driver as numba_driver

from .registry import around

driver, binding = numba_driver.driver, numba_driver.binding
Context, Device = numba_driver.Context, numba_driver.Device
HostOnly = numba_driver.HostOnlyCUDAMemoryManager


def apply(host):
    for repair in (
        _registration,
        _pointers,
        _mapped,
        _pinned,
        _empty,
        _closing,
        _contexts,
        _handles,
    ):
        repair(host)


def _registration(host):
    def set_memory_manager(plugin):
        if os.environ.get("NUMBA_CUDA_MEMORY_MANAGER", "default") != "default":
            numba_driver._ensure_memory_manager()
            warnings.warn("the plugin of NUMBA_CUDA_MEMORY_MANAGER is kept", stacklevel=2)
            return
        _accept(plugin)

    def ensure_memory_manager():
        if numba_driver._memory_manager:
            return
        name = os.environ.get("NUMBA_CUDA_MEMORY_MANAGER") or "default"
        if name == "default":
            numba_driver._memory_manager = numba_driver.NumbaCUDAMemoryManager
            return
        try:
            _accept(importlib.import_module(name)._numba_memory_manager)
        except Exception as error:
            raise RuntimeError(f"Failed to use memory manager from {name}") from error

    host.set_memory_manager = set_memory_manager
    numba_driver._ensure_memory_manager = ensure_memory_manager
    HostOnly.initialize = lambda self: None


def _accept(plugin):
    version = plugin(context=None).interface_version
    if type(version) is not int or version != 1:
        raise RuntimeError(f"EMM Plugin interface has version {version} - version 1 required")
    numba_driver._memory_manager = plugin


def _pointers(_host):
    for cls in (numba_driver.MemoryPointer, numba_driver.MappedMemory, numba_driver.PinnedMemory):

        @around(cls, "__init__")
        def __init__(original, self, context, pointer, *args, **kwargs):
            if isinstance(pointer, (ctypes.c_void_p, ctypes.c_uint64)):
                pointer = pointer.value
            original(self, context, pointer, *args, **kwargs)


def _mapped(host):
    @around(Context, "memhostalloc")
    def memhostalloc(original, *args, **kwargs):
        memory = original(*args, **kwargs)
        if type(memory) is not numba_driver.MappedMemory:
            return memory
        owned = memory.own()
        owned._memory = memory
        return owned

    def mapped_array(shape, dtype=numpy.float64, portable=False, wc=False):
        asking = functools.partialmethod(Context.memhostalloc, portable=portable, wc=wc)
        kept, Context.memhostalloc = Context.memhostalloc, asking
        try:
            return cuda.mapped_array(shape, dtype, portable=portable, wc=wc)
        finally:
            Context.memhostalloc = kept

    host.mapped_array = mapped_array


def _pinned(_host):
    """Page-locked memory that is not mapped is reset too."""

    @around(HostOnly, "memhostalloc")
    def memhostalloc(original, self, size, mapped=False, portable=False, wc=False):
        if mapped:
            return original(self, size, mapped, portable, wc)
        pointer = driver.cuMemHostAlloc(size, portable + 4 * wc)
        pinned = self.__dict__.setdefault("_pinned", {})
        pinned[int(pointer)] = pointer
        deallocations = self.deallocations

        def finalizer():
            if pinned.pop(int(pointer), None) is not None:
                deallocations.add_item(driver.cuMemFreeHost, pointer)

        return numba_driver.PinnedMemory(self.context, pointer, size, finalizer=finalizer)

    @around(HostOnly, "reset")
    def reset(original, self):
        original(self)
        for pointer in list(self.__dict__.get("_pinned", {}).values()):
            del self._pinned[int(pointer)]
            driver.cuMemFreeHost(pointer)


def _empty(host):
    """Arrays of no elements have no memory."""
    for name in ("pinned_array", "mapped_array"):
        make = getattr(host, name)

        def array(shape, dtype=numpy.float64, make=make, **kwargs):
            return make(shape, dtype, **kwargs) if numpy.prod(shape) else numpy.empty(shape, dtype)

        setattr(host, name, array)


def _closing(_host):
    """A context that was let go is retained again before it is used again, and is let go whatever its manager says."""
    released = set()

    @around(Device, "get_primary_context")
    def get_primary_context(original, self):
        if self.id in released:
            released.discard(self.id)
            driver.cuDevicePrimaryCtxRetain(self.id)
        return original(self)

    def reset(self):
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


def _contexts(_host):
    """The context that was current stays so when another device is first asked for its own."""

    @around(Device, "get_primary_context")
    def get_primary_context(original, self):
        before = driver.cuCtxGetCurrent()
        context = original(self)
        if int(before) and int(driver.cuCtxGetCurrent()) != int(before):
            driver.cuCtxPushCurrent(before)
        return context


def _handles(host):
    """A handle is closed whatever happens between opening and closing it."""

    def open_staged(self, context):
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
    def open_ipc_array(*args, **kwargs):
        block = cuda.open_ipc_array(*args, **kwargs)
        try:
            yield block.__enter__()
        finally:
            block.__exit__(None, None, None)

    numba_driver._StagedIpcImpl.open = open_staged
    host.open_ipc_array = open_ipc_array
