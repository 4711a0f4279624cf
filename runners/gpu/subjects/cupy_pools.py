"""CuPy's pools, for `allocert run place --abi rmm`."""

from typing import Any

import cupy


class _Pool:
    """A pool gives an object that owns the memory; its end is the free."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._owners: dict[int, Any] = {}

    def allocate(self, size: int, stream: Any) -> int:
        """A block for work on the stream."""
        with _external(stream):
            owner = self._pool.malloc(size)
        self._owners[owner.ptr] = owner
        return int(owner.ptr)

    def deallocate(self, address: int, _size: int, stream: Any) -> None:
        """Gives a block back."""
        with _external(stream):
            del self._owners[address]


def _external(stream: Any) -> Any:
    return cupy.cuda.ExternalStream(stream.__cuda_stream__()[1])


def pool() -> _Pool:
    """The pool that CuPy uses by default."""
    return _Pool(cupy.cuda.MemoryPool())


def async_pool() -> _Pool:
    """The pool of the driver: cudaMallocAsync."""
    return _Pool(cupy.cuda.MemoryAsyncPool())
