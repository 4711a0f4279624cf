"""RMM's resources, and allocert's own allocator as one, for `allocert run place --abi rmm`.

A device is current when they are made.
"""

import ctypes
import pathlib
from typing import Any

import rmm.mr
from allocert.program import FOLDER

_POOL_BYTES = 1 << 28


def cuda() -> Any:
    """Each request is a cudaMalloc."""
    return rmm.mr.CudaMemoryResource()


def cuda_async() -> Any:
    """Each request is a cudaMallocAsync."""
    return rmm.mr.CudaAsyncMemoryResource()


def pool() -> Any:
    """RMM's pool."""
    return rmm.mr.PoolMemoryResource(cuda(), initial_pool_size=_POOL_BYTES)


def arena() -> Any:
    """RMM's arenas."""
    return rmm.mr.ArenaMemoryResource(cuda(), arena_size=_POOL_BYTES)


def binning() -> Any:
    """RMM's bins of fixed sizes, up to 4 MiB, over cudaMalloc."""
    return rmm.mr.BinningMemoryResource(cuda(), 18, 22)


def reference() -> Any:
    """The reference allocator of allocert on device 0, behind RMM's callbacks."""
    device = 0
    library = ctypes.CDLL(str(pathlib.Path(FOLDER) / "liballocert_place.so"))
    malloc, free = library.allocert_place_torch_malloc, library.allocert_place_torch_free
    malloc.restype, free.restype = ctypes.c_void_p, None
    malloc.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    free.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]

    def allocate(size: int, stream: Any) -> int:
        pointer = malloc(size, device, stream.__cuda_stream__()[1])
        if not pointer and size:
            raise MemoryError(f"{size} bytes of device {device}")
        return pointer or 0

    def deallocate(pointer: int, size: int, stream: Any) -> None:
        free(pointer, size, device, stream.__cuda_stream__()[1])

    return rmm.mr.CallbackMemoryResource(allocate, deallocate)
