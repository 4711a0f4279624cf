"""A plugin that maps device memory at addresses that it reserved."""

from typing import Any

from cuda.bindings import driver as cuda
from numba.cuda.cudadrv.driver import CudaAPIError

from .pools import PooledManager

_GRANULARITY_BYTES = 2 << 20


def _call(name: str, *arguments: object) -> Any:
    """Calls a function of the driver and returns its first result, if it has one."""
    status, *results = getattr(cuda, name)(*arguments)
    if status != cuda.CUresult.CUDA_SUCCESS:
        raise CudaAPIError(int(status), f"{name} answered {status!r}")
    return results[0] if results else None


class MappedPool:
    """Blocks of cuMemCreate(), each at addresses of its own."""

    def __init__(self, device: int) -> None:
        self.place = cuda.CUmemLocation()
        self.place.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        self.place.id = device
        self.handles: dict[int, Any] = {}

    def take(self, size: int) -> int:
        whole = _whole(size)
        wanted = cuda.CUmemAllocationProp()
        wanted.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        wanted.location = self.place
        handle = _call("cuMemCreate", whole, wanted, 0)
        address = int(_call("cuMemAddressReserve", whole, 0, 0, 0))
        _call("cuMemMap", address, whole, 0, handle, 0)
        access = cuda.CUmemAccessDesc()
        access.location = self.place
        access.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        _call("cuMemSetAccess", address, whole, [access], 1)
        self.handles[address] = handle
        return address

    def give_back(self, address: int, size: int) -> None:
        _call("cuCtxSynchronize")
        _call("cuMemUnmap", address, _whole(size))
        _call("cuMemAddressFree", address, _whole(size))
        _call("cuMemRelease", self.handles.pop(address))


def _whole(size: int) -> int:
    return -(-size // _GRANULARITY_BYTES) * _GRANULARITY_BYTES


class VirtualMemory(PooledManager):
    """Takes device memory from cuMemCreate() and maps it at addresses that it reserved."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pool: MappedPool | None = None

    @property
    def pool(self) -> MappedPool:
        if self._pool is None:
            self._pool = MappedPool(self.context.device.id)
        return self._pool
