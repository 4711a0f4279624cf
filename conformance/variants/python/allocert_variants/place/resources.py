"""Variants that are memory resources: as RMM, cuda.core and nvmath-python call them."""

import ctypes
import logging
import threading
from typing import Any

from allocert_mutants.cuda_driver import call
from allocert_mutants.place.conforming_allocator import (
    CoreResource,
    NvmathManager,
    NvmathPointer,
    RmmEventPool,
    RmmResource,
    current,
)
from cuda.core import DeviceMemoryResource, LegacyPinnedMemoryResource


def _handle(stream: Any) -> int:
    handle: int = stream.__cuda_stream__()[1]
    return handle


class OnStreams(RmmResource):
    """Takes and frees each block in the order of its stream, by the pool of the driver."""

    def allocate(self, size: int, stream: Any) -> int:
        address = ctypes.c_uint64()
        try:
            call(
                "cuMemAllocAsync",
                ctypes.byref(address),
                ctypes.c_size_t(size),
                ctypes.c_void_p(_handle(stream)),
            )
        except RuntimeError as error:
            raise MemoryError(str(error)) from error
        return address.value

    def deallocate(self, address: int, _size: int, stream: Any) -> None:
        call("cuMemFreeAsync", ctypes.c_uint64(address), ctypes.c_void_p(_handle(stream)))


class HasTwoGiB(RmmResource):
    """Raises MemoryError where its blocks would have more than 2 GiB."""

    capacity_bytes = 2 << 30

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._sizes: dict[int, int] = {}

    def allocate(self, size: int, stream: Any) -> int:
        with self._lock:
            if sum(self._sizes.values()) + size > self.capacity_bytes:
                raise MemoryError(f"{size} bytes do not fit into {self.capacity_bytes}")
            address = super().allocate(size, stream)
            self._sizes[address] = size
            return address

    def deallocate(self, address: int, size: int, stream: Any) -> None:
        with self._lock:
            super().deallocate(address, size, stream)
            del self._sizes[address]


class Managed(RmmResource):
    """Allocates managed memory, which may be more than the device has."""

    def allocate(self, size: int, _stream: Any) -> int:
        address = ctypes.c_uint64()
        attached_to_all = ctypes.c_uint(1)
        call("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(size), attached_to_all)
        return address.value

    def deallocate(self, address: int, _size: int, stream: Any) -> None:
        call("cuStreamSynchronize", ctypes.c_void_p(_handle(stream)))
        call("cuMemFree_v2", ctypes.c_uint64(address))


class KeepsForItsStream(RmmResource):
    """Keeps a freed block for the next request of the same size on the same stream.

    Where the driver has no memory, it gives back all that it keeps.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[tuple[int, int], list[int]] = {}

    def allocate(self, size: int, stream: Any) -> int:
        kept = self._kept.get((_handle(stream), size))
        if kept:
            return kept.pop()
        try:
            return super().allocate(size, stream)
        except MemoryError:
            for addresses in self._kept.values():
                while addresses:
                    super().deallocate(addresses.pop(), size, stream)
            return super().allocate(size, stream)

    def deallocate(self, address: int, size: int, stream: Any) -> None:
        self._kept.setdefault((_handle(stream), size), []).append(address)


class KeepsWithEvents(RmmEventPool):
    """Keeps a freed block with an event, which the stream of its next owner waits for."""


def upstream(device: int) -> Any:
    """A resource that passes every request on to one of cuda.core."""
    return Upstream(device)


class Upstream(CoreResource):
    """Returns the buffers of another resource."""

    def __init__(self, device: int) -> None:
        super().__init__(device)
        self._upstream = DeviceMemoryResource(device)

    def allocate(self, size: int, *, stream: Any) -> Any:
        return self._upstream.allocate(size, stream=stream)


#: Serves memory that the host and the device reach. It belongs to no device.
pinned = LegacyPinnedMemoryResource()


class NamedPtr:
    """Memory whose address has the last of the three names."""

    def __init__(self, memory: NvmathPointer) -> None:
        self._memory, self.ptr = memory, memory.device_ptr


class Manager(NvmathManager):
    """Returns memory whose address has the last of the three names."""

    def memalloc(self, size: int) -> Any:
        return NamedPtr(super().memalloc(size))


class AsyncManager:
    """Takes memory from the pool of the driver, on the stream that the request is for.

    A manager that has both methods is asked for memory by this one.
    """

    def __init__(self, device: int, _logger: logging.Logger) -> None:
        self._device = device

    def memalloc(self, size: int) -> Any:
        raise RuntimeError(f"a request of {size} bytes without a stream")

    def memalloc_async(self, size: int, stream: Any) -> Any:
        address = ctypes.c_uint64()
        with current(self._device):
            call(
                "cuMemAllocAsync",
                ctypes.byref(address),
                ctypes.c_size_t(size),
                ctypes.c_void_p(_handle(stream)),
            )
        return OfStream(address.value, self._device, stream)


class OfStream:
    """Memory that is freed in the order of its stream.

    The default stream is one of the context that is current, which may be another one by then.
    """

    def __init__(self, address: int, device: int, stream: Any) -> None:
        self.device_pointer, self._device, self._stream = address, device, stream

    def __del__(self) -> None:
        handle = ctypes.c_void_p(_handle(self._stream))
        with current(self._device):
            call("cuMemFreeAsync", ctypes.c_uint64(self.device_pointer), handle)


class OneManager:
    """Takes memory on the device that is current."""

    def memalloc(self, size: int) -> Any:
        device = ctypes.c_int()
        call("cuCtxGetDevice", ctypes.byref(device))
        return Manager(device.value, logging.getLogger(__name__)).memalloc(size)


one_manager = OneManager()
