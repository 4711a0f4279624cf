"""An allocator that conforms, as the objects of each ABI. Mutants derive from it."""

import contextlib
import ctypes
import functools
import logging
from collections.abc import Iterator
from typing import Any

from cuda.core import Buffer, MemoryResource

from ..cuda_driver import CallError, Event, Stream, call

OUT_OF_MEMORY = 2


@functools.cache
def context(device: int) -> ctypes.c_void_p:
    """The primary context of a device."""
    found = ctypes.c_void_p()
    call("cuInit", ctypes.c_uint(0))
    call("cuDevicePrimaryCtxRetain", ctypes.byref(found), ctypes.c_int(device))
    return found


@contextlib.contextmanager
def current(device: int) -> Iterator[None]:
    """Inside its block the device is current."""
    call("cuCtxPushCurrent_v2", context(device))
    try:
        yield
    finally:
        call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


class Blocks:
    """Takes each block from the driver, and gives it back when the work of the device is done."""

    def take(self, device: int, size_bytes: int) -> int:
        address = ctypes.c_uint64()
        with current(device):
            call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size_bytes))
        return address.value

    def give(self, device: int, address: int) -> None:
        with current(device):
            call("cuCtxSynchronize")
            call("cuMemFree_v2", ctypes.c_uint64(address))


class CupyAllocator:
    """As CuPy's PythonFunctionAllocator calls it."""

    def __init__(self) -> None:
        self.blocks = Blocks()

    def malloc(self, size: int, device: int) -> int:
        return self.blocks.take(device, size)

    def free(self, address: int, device: int) -> None:
        self.blocks.give(device, address)


class RmmResource:
    """As RMM's DeviceMemoryResource. It serves the device that is current when it is made."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        device = ctypes.c_int()
        call("cuCtxGetDevice", ctypes.byref(device))
        self.device = device.value

    def allocate(self, size: int, _stream: Any) -> int:
        try:
            return self.blocks.take(self.device, size)
        except CallError as error:
            if error.code == OUT_OF_MEMORY:
                raise MemoryError(str(error)) from error
            raise

    def deallocate(self, address: int, _size: int, _stream: Any) -> None:
        self.blocks.give(self.device, address)


class RmmEventPool(RmmResource):
    """Keeps a freed block with an event, which the stream of its next owner waits for.

    Where the driver has no memory, it gives back all that it keeps.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[int, list[tuple[int, Event]]] = {}

    def allocate(self, size: int, stream: Any) -> int:
        kept = self._kept.get(size)
        if kept:
            address, event = kept.pop()
            _stream(stream).wait(event)
            return address
        try:
            return super().allocate(size, stream)
        except MemoryError:
            for blocks in self._kept.values():
                while blocks:
                    super().deallocate(blocks.pop()[0], size, stream)
            return super().allocate(size, stream)

    def deallocate(self, address: int, size: int, stream: Any) -> None:
        with current(self.device):
            event = self.recorded(_stream(stream))
        self._kept.setdefault(size, []).append((address, event))

    def recorded(self, stream: Stream) -> Event:
        return Event(stream)


def _stream(stream: Any) -> Stream:
    return Stream(stream.__cuda_stream__()[1])


class CoreResource(MemoryResource):
    """As cuda.core's MemoryResource."""

    is_device_accessible = True
    is_host_accessible = False

    def __init__(self, device: int) -> None:
        self.blocks = Blocks()
        self._device = device

    @property
    def device_id(self) -> int:
        return self._device

    def allocate(self, size: int, *, stream: Any) -> Any:
        address = self.blocks.take(self._device, size)
        return Buffer.from_handle(address, size, mr=self, stream=stream)

    def deallocate(self, address: Any, _size: int, *, stream: Any) -> None:
        self.blocks.give(self._device, int(address))


class NvmathPointer:
    """Memory of a device that ends with this object."""

    def __init__(self, blocks: Blocks, device: int, address: int) -> None:
        self._blocks, self._device, self.device_ptr = blocks, device, address

    def __del__(self) -> None:
        self._blocks.give(self._device, self.device_ptr)


class NvmathAsyncManager:
    """As nvmath-python's BaseCUDAMemoryManagerAsync."""

    def __init__(self, device: int, _logger: logging.Logger) -> None:
        self.blocks = Blocks()
        self.device = device

    def memalloc_async(self, size: int, stream: Any) -> Any:
        return NvmathPointer(self.blocks, self.device, self.blocks.take(self.device, size))


class NvmathManager:
    """As nvmath-python's BaseCUDAMemoryManager."""

    def __init__(self, device: int, _logger: logging.Logger) -> None:
        self.blocks = Blocks()
        self.device = device

    def memalloc(self, size: int) -> Any:
        return NvmathPointer(self.blocks, self.device, self.blocks.take(self.device, size))
