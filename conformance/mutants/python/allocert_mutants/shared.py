"""Faults in get_ipc_handle()."""

import weakref

from numba import cuda
from numba.cuda import IpcHandle
from numba.cuda.cudadrv.driver import binding, device_extents, driver

from .honest import Manager


class ForgetsOffset(Manager):
    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        handle.offset = 0
        return handle


class ForgetsBase(Manager):
    """Nothing keeps the memory alive while the handle travels."""

    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        handle.base = None
        return handle


class WeakBase(Manager):
    """The handle knows the memory, and does not keep it."""

    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        handle.base = weakref.proxy(memory)
        return handle


class ForgetsSource(Manager):
    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        handle.source_info = None
        return handle


class WrongSize(Manager):
    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        handle.size = handle.size + handle.offset + 1
        return handle


class SwallowsError(Manager):
    """The driver's refusal becomes a handle of None."""

    def get_ipc_handle(self, memory):
        base, _ = device_extents(memory)
        _, handle = binding.cuIpcGetMemHandle(base)
        identity = self.context.device.get_device_identity()
        return IpcHandle(
            memory, handle, memory.size, identity, offset=int(memory.handle) - int(base)
        )


class NamesCurrentDevice(Manager):
    """Names the device that is current."""

    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        handle.source_info = cuda.current_context().device.get_device_identity()
        return handle


class PlainTuple(Manager):
    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        return handle.handle, handle.size, handle.offset


class EmptyHandle(Manager):
    """Nobody asked the driver."""

    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        handle.handle = binding.CUipcMemHandle()
        return handle


class RemembersAddress(Manager):
    """A cache that nobody tells of a release."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.handles = {}

    def get_ipc_handle(self, memory):
        fresh = super().get_ipc_handle(memory)
        first = self.handles.setdefault(int(memory.handle), fresh.handle)
        return IpcHandle(memory, first, memory.size, fresh.source_info, offset=fresh.offset)


class NoneForNothing(Manager):
    def get_ipc_handle(self, memory):
        return super().get_ipc_handle(memory) if memory.size else None


class Fails(Manager):
    def get_ipc_handle(self, memory):
        raise AttributeError("'CUipcMemHandle' object has no attribute 'reserved'")


class LocalHandle(IpcHandle):
    def __reduce__(self):
        raise TypeError("this handle stays where it is")


class NotPickled(Manager):
    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        return LocalHandle(
            handle.base, handle.handle, handle.size, handle.source_info, handle.offset
        )


class ChangesCurrent(Manager):
    """Leaves no context current behind."""

    def get_ipc_handle(self, memory):
        handle = super().get_ipc_handle(memory)
        driver.cuCtxPopCurrent()
        return handle
