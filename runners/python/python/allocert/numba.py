"""The reference managers as Numba External Memory Management plugins.

Use one for a whole program with ``NUMBA_CUDA_MEMORY_MANAGER=allocert.numba`` (that is :class:`PoolManager`), or with
``numba.cuda.set_memory_manager(allocert.numba.DeferredManager)`` before the first CUDA call.

==================  ==========================================  ===============================================
manager             device memory                               ``get_memory_info()``
==================  ==========================================  ===============================================
PoolManager         cut from slabs that are taken once          free memory of the driver and inside the slabs
DeferredManager     one driver allocation each; frees queue up  what the driver says
HostOnlyManager     one driver allocation each                  NotImplementedError
==================  ==========================================  ===============================================

What ``defer_cleanup()`` does, for all three: while at least one scope is open, dropping device or page-locked memory causes
no driver call that frees or synchronises. The pool hands dropped memory out again at once, inside the scope as well; the
other two keep it until the outermost scope is left. A region that was pinned is unpinned at once, inside the scope as well,
because it may be pinned again. Scopes nest and may be left by an exception. A request that finds no memory inside a scope
fails without freeing anything. ``reset()`` gives everything back, also inside a scope.

Streams: memory is ready on the default stream when ``memalloc()`` returns. Whoever uses pool memory on another stream waits
for that stream before dropping the memory.
"""

import contextlib
import ctypes
import weakref

from numba.cuda import (
    BaseCUDAMemoryManager,
    GetIpcHandleMixin,
    MappedMemory,
    MemoryInfo,
    MemoryPointer,
    PinnedMemory,
)
from numba.cuda import IpcHandle as NumbaIpcHandle
from numba.cuda.cudadrv.driver import CudaAPIError, MappedOwnedPointer, binding

from ._allocert import DriverError
from ._allocert import Manager as _Manager

__all__ = ["DeferredManager", "HostOnlyManager", "IpcHandle", "PoolManager"]

_HANDLE_BYTES = 64
CUdeviceptr = binding.CUdeviceptr


class DeviceMemory(MemoryPointer):
    """Device memory of a reference manager. Its finalizer is the native one rather than a `weakref.finalize` around it, which
    takes longer than the allocation: it releases when it is called, or with the memory that it is an attribute of."""


class _Mapped(MappedMemory):
    def free(self):
        # The last owner to die frees memory that may have been freed by name before: `cuda.mapped`
        # does that.
        if self._finalizer.alive:
            super().free()


class MappedPointer(MappedOwnedPointer):
    """Mapped memory as Numba wants it returned: with the buffer protocol, and alive as long as itself or a view of it."""

    def __init__(self, memory):
        super().__init__(weakref.proxy(memory))
        self._memory = memory

    def free(self):
        """Gives the memory back now. RuntimeError when that has been done."""
        if not self._memory._finalizer.alive:
            raise RuntimeError("Freeing dead memory")
        self._memory.free()


class IpcHandle(NumbaIpcHandle):
    """Numba's handle, except that it can be pickled whatever the version of cuda-bindings."""

    def __reduce__(self):
        raw = ctypes.string_at(self.handle.getPtr(), _HANDLE_BYTES)
        return _unpickled, (raw, self.size, self.source_info, self.offset)


def _unpickled(raw, size, source_info, offset):
    return IpcHandle(None, _driver_handle(raw), size, source_info, offset)


def _driver_handle(raw):
    handle = binding.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), raw, _HANDLE_BYTES)
    return handle


def _asked(function, *arguments):
    """Calls the manager; a driver error is raised as Numba raises its own."""
    try:
        return function(*arguments)
    except DriverError as error:
        raise _as_numba_does(error) from None


def _as_numba_does(error):
    message, code = error.args
    return error if code is None else CudaAPIError(binding.CUresult(code), message)


class _ReferenceManager(GetIpcHandleMixin, BaseCUDAMemoryManager):
    """What the three have in common: everything but their kind."""

    _kind = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # Registration looks at a manager without a context; nothing can be asked of that one.
        if self.context is not None:
            self._proxy = weakref.proxy(self.context)
            self._manager = _asked(
                _Manager, self._kind, int(self.context.handle), int(self.context.device.id)
            )
            self._memalloc = self._manager.memalloc

    @property
    def interface_version(self):
        return 1

    def initialize(self):
        _asked(self._manager.initialize)

    def memalloc(self, size):
        try:
            address, size, finalizer = self._memalloc(size)
        except DriverError as error:
            raise _as_numba_does(error) from None
        memory = DeviceMemory(self._proxy, CUdeviceptr(address), size)
        memory._finalizer = finalizer
        memory.is_managed = True
        return memory

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        memory = _asked(self._manager.memhostalloc, size, mapped, portable, wc)
        return self._host_memory(memory, None, mapped)

    def memallocmanaged(self, size, attach_global):
        """Not part of the plugin interface: NBEP 7 leaves managed memory out, and Numba asks all the same."""
        raise NotImplementedError("the reference managers do not manage managed memory")

    def mempin(self, owner, pointer, size, mapped=False):
        memory = _asked(self._manager.mempin, pointer, size, mapped)
        return self._host_memory(memory, owner, mapped)

    def _host_memory(self, memory, owner, mapped):
        finalizer = self._manager.finalizer(memory.token)
        cls = _Mapped if mapped else PinnedMemory
        try:
            made = cls(
                self._proxy,
                memory.host_pointer,
                memory.size_bytes,
                owner=owner,
                finalizer=finalizer,
            )
        except BaseException:
            finalizer()
            raise
        return MappedPointer(made) if mapped else made

    def get_memory_info(self):
        free, total = _asked(self._manager.get_memory_info)
        return MemoryInfo(free=free, total=total)

    def get_ipc_handle(self, memory):
        """A handle for device memory of this manager, a view of it, or memory that somebody else owns."""
        base = memory.owner
        if not isinstance(base, DeviceMemory):
            made = super().get_ipc_handle(memory)
            return IpcHandle(memory, made.handle, memory.size, made.source_info, made.offset)
        offset_in_base = int(memory.device_pointer) - int(base.device_pointer)
        made = _asked(self._manager.get_ipc_handle, base._finalizer.token, offset_in_base)
        identity = self.context.device.get_device_identity()
        return IpcHandle(
            memory, _driver_handle(made.handle), memory.size, identity, made.offset_bytes
        )

    def reset(self):
        self._manager.reset()

    @contextlib.contextmanager
    def defer_cleanup(self):
        """Until it is left, dropped memory is freed by no driver call; the module's documentation has the details."""
        self._manager.defer_begin()
        try:
            yield
        finally:
            self._manager.defer_end()


class PoolManager(_ReferenceManager):
    """Cuts allocations from slabs. Dropped memory is used again at once; empty slabs go back outside ``defer_cleanup()``."""

    _kind = "pool"


class DeferredManager(_ReferenceManager):
    """One driver allocation each. Frees queue up and are done together, as Numba's own manager does it."""

    _kind = "deferred"


class HostOnlyManager(_ReferenceManager):
    """One driver allocation each, freed when it is dropped. It cannot tell how much memory is free."""

    _kind = "host_only"


_numba_memory_manager = PoolManager
