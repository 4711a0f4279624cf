"""A producer that maps device memory at addresses that it reserved."""

import ctypes
import weakref
from typing import Any

from allocert_mutants.cai_producer.conforming_producer import Array, HostArray, Producer
from allocert_mutants.cuda_driver import Memory, Work, call, call_without_check

_GRANULARITY_BYTES = 2 << 20
_ON_DEVICE, _PINNED, _READ_AND_WRITE = 1, 1, 3


class _Location(ctypes.Structure):
    """`CUmemLocation`."""

    _fields_ = (("kind", ctypes.c_int), ("device", ctypes.c_int))


class _Properties(ctypes.Structure):
    """`CUmemAllocationProp`."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("handle_data", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    """`CUmemAccessDesc`."""

    _fields_ = (("location", _Location), ("access", ctypes.c_int))


class _MappedMemory(Memory):
    """Memory of cuMemCreate(), at addresses of its own."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.work: list[Work] = []
        self.scratch: list[Memory] = []
        self.base = _mapped(-(-size_bytes // _GRANULARITY_BYTES) * _GRANULARITY_BYTES, self)


def _mapped(size_bytes: int, owner: _MappedMemory) -> int:
    """The address of new memory, which goes when its owner does."""
    size, location = ctypes.c_size_t(size_bytes), _Location(_ON_DEVICE, 0)
    handle, address = ctypes.c_uint64(), ctypes.c_uint64()
    properties = _Properties(kind=_PINNED, location=location)
    call("cuMemCreate", ctypes.byref(handle), size, ctypes.byref(properties), ctypes.c_uint64(0))
    zeros = ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0)
    call("cuMemAddressReserve", ctypes.byref(address), size, *zeros)
    call("cuMemMap", address, size, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
    access = _Access(location, _READ_AND_WRITE)
    call("cuMemSetAccess", address, size, ctypes.byref(access), ctypes.c_size_t(1))
    weakref.finalize(owner, _unmap, owner.work, address, size, handle).atexit = False
    return address.value


def _unmap(work: list[Work], address: Any, size: Any, handle: Any) -> None:
    for one in work:
        call_without_check("cuEventSynchronize", one.event.handle)
    call_without_check("cuMemUnmap", address, size)
    call_without_check("cuMemAddressFree", address, size)
    call_without_check("cuMemRelease", handle)


class VirtualMemory(Producer):
    """Takes device memory from cuMemCreate() and maps it at addresses that it reserved."""

    def copy_to_device(
        self, host_array: HostArray, memory_kind: str = "device", *more: Any
    ) -> Array:
        if memory_kind != "device" or not host_array.nbytes:
            return super().copy_to_device(host_array, memory_kind, *more)
        memory = _MappedMemory(host_array.nbytes)
        source, size = ctypes.c_void_p(host_array.ctypes.data), ctypes.c_size_t(host_array.nbytes)
        call("cuMemcpyHtoD_v2", ctypes.c_uint64(memory.base), source, size)
        return self.array_class(memory, host_array, host_array.ctypes.data, *more)
