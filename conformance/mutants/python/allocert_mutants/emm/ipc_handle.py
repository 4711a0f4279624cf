"""Plugins with a faulty get_ipc_handle()."""

import weakref
from typing import Any, NoReturn

from numba import cuda
from numba.cuda import IpcHandle, MemoryPointer
from numba.cuda.cudadrv.driver import binding, device_extents, driver

from .conforming_plugin import Finalizer, Manager


class _ChangesHandle(Manager):
    """Changes the handle that a conforming manager returns."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        raise NotImplementedError

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        handle = super().get_ipc_handle(memory)
        self.change(handle, memory)
        return handle


class OffsetZero(_ChangesHandle):
    """Reports offset 0 for every handle."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        handle.offset = 0


class OffsetOfFirstHandle(_ChangesHandle):
    """Reports the offset of the first handle of an allocation for its other parts too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offsets: dict[int, int] = {}

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        base = int(memory.handle) - handle.offset
        handle.offset = self.offsets.setdefault(base, handle.offset)

    def finalizer(self, token: int) -> Finalizer:
        address, release = self.blocks.live[token], super().finalizer(token)

        def finalize() -> None:
            self.offsets.pop(address, None)
            release()

        return finalize

    def reset(self) -> None:
        super().reset()
        self.offsets.clear()


class BaseMissing(_ChangesHandle):
    """Returns handles that do not keep the memory alive."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        handle.base = None


class BaseWeak(_ChangesHandle):
    """Returns handles that refer to the memory by a weak reference only."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        handle.base = weakref.proxy(memory)


class SourceIsCurrentDevice(_ChangesHandle):
    """Names the current device in a handle instead of the memory's."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        handle.source_info = cuda.current_context().device.get_device_identity()


class WrongSize(_ChangesHandle):
    """Returns handles with a wrong size."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        handle.size = handle.size + handle.offset + 1


class ErrorIgnored(Manager):
    """Returns a handle of None where the driver refuses to make one."""

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        base, _ = device_extents(memory)
        _, handle = binding.cuIpcGetMemHandle(base)
        identity = self.context.device.get_device_identity()
        return IpcHandle(
            memory, handle, memory.size, identity, offset=int(memory.handle) - int(base)
        )


class PlainTuple(Manager):
    """Returns a tuple instead of an IpcHandle."""

    def get_ipc_handle(self, memory: MemoryPointer) -> tuple[Any, int, int]:
        handle = super().get_ipc_handle(memory)
        return handle.handle, handle.size, handle.offset


class EmptyHandle(_ChangesHandle):
    """Returns handles of zeros."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        handle.handle = binding.CUipcMemHandle()


class CachedByAddress(Manager):
    """Returns the first handle of an address for every later block at that address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.handles: dict[int, Any] = {}

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        fresh = super().get_ipc_handle(memory)
        first = self.handles.setdefault(int(memory.handle), fresh.handle)
        return IpcHandle(memory, first, memory.size, fresh.source_info, offset=fresh.offset)


class NoneForZeroSize(Manager):
    """Returns None as the handle of an empty array."""

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle | None:
        return super().get_ipc_handle(memory) if memory.size else None


class Fails(Manager):
    """Claims IPC and fails at every handle."""

    def get_ipc_handle(self, memory: MemoryPointer) -> NoReturn:
        raise AttributeError("'CUipcMemHandle' object has no attribute 'reserved'")


class UnpicklableHandle(IpcHandle):
    """Raises when it is pickled."""

    def __reduce__(self) -> NoReturn:
        raise TypeError("this handle cannot be pickled")


class NotPicklable(Manager):
    """Returns handles that cannot be pickled."""

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        handle = super().get_ipc_handle(memory)
        return UnpicklableHandle(
            handle.base, handle.handle, handle.size, handle.source_info, handle.offset
        )


class PopsContext(_ChangesHandle):
    """Leaves no context current after get_ipc_handle()."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        driver.cuCtxPopCurrent()


class OffsetWrongOnDevice1(_ChangesHandle):
    """Reports an offset that is 256 bytes too large, on device 1 alone."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        if self.context.device.id == 1:
            handle.offset += 256


class ViewSizeWrong(_ChangesHandle):
    """Reports a size that is a TiB too large for a view."""

    def change(self, handle: IpcHandle, memory: MemoryPointer) -> None:
        if getattr(memory, "_view", None) is not None or memory.owner is not None:
            handle.size += 1 << 40
