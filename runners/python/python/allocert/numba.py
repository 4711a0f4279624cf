"""The reference managers as Numba External Memory Management plugins.

Use one for a whole program with ``NUMBA_CUDA_MEMORY_MANAGER=allocert.numba`` (that is
:class:`PoolManager`), or with ``numba.cuda.set_memory_manager(allocert.numba.DeferredManager)``
before the first CUDA call.

=================  =====================================  ======================================
manager            device memory                          ``get_memory_info()``
=================  =====================================  ======================================
PoolManager        cut from chunks that are taken once    free memory: driver's and in the chunks
DeferredManager    one driver allocation each; frees      the driver's answer
                   wait in a queue
HostOnlyManager    one driver allocation each             NotImplementedError
=================  =====================================  ======================================

``defer_cleanup()``, for all three: while at least one scope is open, dropping device or
page-locked memory causes no driver call that frees or synchronises. The pool hands dropped memory
out again at once, also inside the scope; the other two keep it until the outermost scope is left.
A pinned region is unpinned at once, also inside the scope, because it may be pinned again. Scopes
nest and may be left by an exception. A request that finds no memory inside a scope fails without
freeing anything. ``reset()`` gives everything back, also inside a scope.

Streams: memory is ready on the default stream when ``memalloc()`` returns. A user of pool memory
on another stream waits for that stream before dropping the memory.
"""

import contextlib
import ctypes
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

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

from . import _allocert
from ._allocert import DriverError

__all__ = ["DeferredManager", "HostOnlyManager", "IpcHandle", "PoolManager"]

_HANDLE_BYTES = 64
CUdeviceptr = binding.CUdeviceptr

R = TypeVar("R")


class DeviceMemory(MemoryPointer):
    """Device memory of a reference manager.

    Its finalizer is the native one, because a ``weakref.finalize`` takes longer than the
    allocation. It releases the memory when it is called, or with the object that it is an
    attribute of.
    """


class _Mapped(MappedMemory):
    def free(self) -> None:
        # The last owner to die frees memory that may have been freed by name before:
        # `cuda.mapped` does that.
        if self._finalizer.alive:
            super().free()


class MappedPointer(MappedOwnedPointer):
    """Mapped memory as Numba wants it returned.

    It has the buffer protocol, and the memory lives as long as this object or a view of it.
    """

    def __init__(self, memory: _Mapped) -> None:
        super().__init__(weakref.proxy(memory))
        self._memory = memory

    def free(self) -> None:
        """Gives the memory back now. Raises RuntimeError if that has been done."""
        if not self._memory._finalizer.alive:
            raise RuntimeError("Freeing dead memory")
        self._memory.free()


class IpcHandle(NumbaIpcHandle):
    """Numba's handle, except that pickle takes it whatever the version of cuda-bindings."""

    def __reduce__(self) -> tuple[Callable[..., "IpcHandle"], tuple[Any, ...]]:
        raw = ctypes.string_at(self.handle.getPtr(), _HANDLE_BYTES)
        return _unpickled, (raw, self.size, self.source_info, self.offset)


def _unpickled(raw: bytes, size: int, source_info: Any, offset: int) -> IpcHandle:
    return IpcHandle(None, _driver_handle(raw), size, source_info, offset)


def _driver_handle(raw: bytes) -> Any:
    """A CUipcMemHandle of cuda-bindings with these bytes."""
    handle = binding.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), raw, _HANDLE_BYTES)
    return handle


def _call(function: Callable[..., R], *arguments: Any) -> R:
    """Calls the native manager. Raises an error of the driver as Numba raises its own."""
    try:
        return function(*arguments)
    except DriverError as error:
        raise _as_numba_error(error) from None


def _as_numba_error(error: DriverError) -> Exception:
    message, code = error.args
    if code is None:
        return error
    numba_error: Exception = CudaAPIError(binding.CUresult(code), message)
    return numba_error


class _ReferenceManager(GetIpcHandleMixin, BaseCUDAMemoryManager):
    """Everything but the kind of the native manager."""

    _kind: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # When a class is registered, Numba makes one without a context and reads its version only.
        if self.context is not None:
            self._proxy = weakref.proxy(self.context)
            context, device = int(self.context.handle), int(self.context.device.id)
            self._manager = _call(_allocert.Manager, self._kind, context, device)
            self._memalloc = self._manager.memalloc

    @property
    def interface_version(self) -> int:
        return 1

    def initialize(self) -> None:
        _call(self._manager.initialize)

    def memalloc(self, size: int) -> DeviceMemory:
        try:
            address, size, finalizer = self._memalloc(size)
        except DriverError as error:
            raise _as_numba_error(error) from None
        memory = DeviceMemory(self._proxy, CUdeviceptr(address), size)
        memory._finalizer = finalizer
        memory.is_managed = True
        return memory

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> PinnedMemory | MappedPointer:
        memory = _call(self._manager.memhostalloc, size, mapped, portable, wc)
        return self._host_memory(memory, None, mapped)

    def memallocmanaged(self, size: int, attach_global: bool) -> None:
        """Raises NotImplementedError: NBEP 7 leaves managed memory out, but Numba asks for it."""
        raise NotImplementedError("the reference managers do not manage managed memory")

    def mempin(
        self, owner: Any, pointer: int, size: int, mapped: bool = False
    ) -> PinnedMemory | MappedPointer:
        memory = _call(self._manager.mempin, pointer, size, mapped)
        return self._host_memory(memory, owner, mapped)

    def _host_memory(
        self, memory: _allocert.Memory, owner: Any, mapped: bool
    ) -> PinnedMemory | MappedPointer:
        finalizer = self._manager.finalizer(memory.token)
        cls = _Mapped if mapped else PinnedMemory
        pointer, size = memory.host_pointer, memory.size_bytes
        try:
            made = cls(self._proxy, pointer, size, owner=owner, finalizer=finalizer)
        except BaseException:
            finalizer()
            raise
        return MappedPointer(made) if mapped else made

    def get_memory_info(self) -> Any:
        free, total = _call(self._manager.get_memory_info)
        return MemoryInfo(free=free, total=total)

    def get_ipc_handle(self, memory: Any) -> IpcHandle:
        """A handle for device memory of this manager, a view of it, or memory of another owner."""
        base = memory.owner
        if not isinstance(base, DeviceMemory):
            made = super().get_ipc_handle(memory)
            return IpcHandle(memory, made.handle, memory.size, made.source_info, made.offset)
        offset_in_base = int(memory.device_pointer) - int(base.device_pointer)
        native = _call(self._manager.get_ipc_handle, base._finalizer.token, offset_in_base)
        identity = self.context.device.get_device_identity()
        return IpcHandle(
            memory, _driver_handle(native.handle), memory.size, identity, native.offset_bytes
        )

    def reset(self) -> None:
        self._manager.reset()

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Until it is left, dropped memory causes no driver call that frees.

        The documentation of the module has the details.
        """
        self._manager.defer_begin()
        try:
            yield
        finally:
            self._manager.defer_end()


class PoolManager(_ReferenceManager):
    """Cuts allocations from chunks.

    It uses dropped memory again at once. Empty chunks go back to the driver outside of
    ``defer_cleanup()``.
    """

    _kind = "pool"


class DeferredManager(_ReferenceManager):
    """Makes one driver allocation for each. It queues frees and does them together, as Numba."""

    _kind = "deferred"


class HostOnlyManager(_ReferenceManager):
    """Makes one driver allocation for each, and frees it when it is dropped.

    It does not report how much memory is free.
    """

    _kind = "host_only"


_numba_memory_manager = PoolManager
