"""Mutants that are memory resources: as RMM, cuda.core and nvmath-python call them."""

import ctypes
from typing import Any

from cuda.core import Buffer

from ..cuda_driver import Event, Stream, call
from .conforming_allocator import (
    Blocks,
    CoreResource,
    NvmathAsyncManager,
    NvmathManager,
    NvmathPointer,
    RmmEventPool,
    RmmResource,
    current,
)


class KeepsForSameSize(Blocks):
    """Keeps what is freed, and gives it to the next request of the same size at once."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._kept: dict[tuple[int, int], list[int]] = {}

    def take(self, device: int, size_bytes: int) -> int:
        kept = self._kept.get((device, size_bytes))
        address = kept.pop() if kept else super().take(device, size_bytes)
        self._sizes[address] = size_bytes
        return address

    def give(self, device: int, address: int) -> None:
        self._kept.setdefault((device, self._sizes[address]), []).append(address)


class ClearsWithoutWaiting(Blocks):
    """Clears a block on a stream of its own, and does not wait for it."""

    _stream: Stream | None = None

    def take(self, device: int, size_bytes: int) -> int:
        address = super().take(device, size_bytes)
        with current(device):
            self._stream = self._stream or Stream()
            call(
                "cuMemsetD8Async",
                ctypes.c_uint64(address),
                ctypes.c_ubyte(0),
                ctypes.c_size_t(size_bytes),
                ctypes.c_void_p(self._stream.handle),
            )
        return address


class RmmIgnoresStreams(RmmResource):
    """Gives a block to another stream while work on it is queued."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = KeepsForSameSize()


class RmmOneEventForAllFrees(RmmEventPool):
    """Records one event in the stream of each free in turn. Nobody waits for all but the last."""

    _event: Event | None = None

    def recorded(self, stream: Stream) -> Event:
        self._event = self._event or Event(stream)
        self._event.record(stream)
        return self._event


class RmmAlignedTo64(RmmResource):
    """Begins a block 64 bytes behind an aligned address."""

    def allocate(self, size: int, stream: Any) -> int:
        return super().allocate(size + 64, stream) + 64

    def deallocate(self, address: int, size: int, stream: Any) -> None:
        super().deallocate(address - 64, size + 64, stream)


class RmmLeaksOddSizes(RmmResource):
    """Forgets what it is given back if the size is odd."""

    def deallocate(self, address: int, size: int, stream: Any) -> None:
        if size % 2 == 0:
            super().deallocate(address, size, stream)


class RmmRaisesRuntimeError(RmmResource):
    """Has no MemoryError where there is no memory."""

    def allocate(self, size: int, stream: Any) -> int:
        try:
            return super().allocate(size, stream)
        except MemoryError as error:
            raise RuntimeError("no memory") from error


class RmmWithoutStream(RmmResource):
    """Takes no stream."""

    def allocate(self, size: int) -> int:  # type: ignore[override]
        return super().allocate(size, None)


class CoreAlwaysDevice0(CoreResource):
    """Is made for a device, and serves device 0."""

    def __init__(self, _device: int) -> None:
        super().__init__(0)


class CoreStatesRoundedSize(CoreResource):
    """Rounds a request up, and says so in the buffer."""

    def allocate(self, size: int, *, stream: Any) -> Any:
        return super().allocate(-(-size // 512) * 512, stream=stream)


class CoreIgnoresStreams(CoreResource):
    """Gives a block to another stream while work on it is queued."""

    def __init__(self, device: int) -> None:
        super().__init__(device)
        self.blocks = KeepsForSameSize()


class CoreClearsWithoutWaiting(CoreResource):
    """Clears a block on a stream of its own, and does not wait for it."""

    def __init__(self, device: int) -> None:
        super().__init__(device)
        self.blocks = ClearsWithoutWaiting()


class CoreBufferWithoutOwner(CoreResource):
    """Returns buffers that give nothing back."""

    def allocate(self, size: int, *, stream: Any) -> Any:
        address = self.blocks.take(self.device_id, size)
        return Buffer.from_handle(address, size, owner=self)


class NvmathAsyncIgnoresStreams(NvmathAsyncManager):
    """Gives a block to another stream while work on it is queued."""

    def __init__(self, device: int, logger: Any) -> None:
        super().__init__(device, logger)
        self.blocks = KeepsForSameSize()


class NvmathAsyncClearsWithoutWaiting(NvmathAsyncManager):
    """Clears a block on a stream of its own, and does not wait for it."""

    def __init__(self, device: int, logger: Any) -> None:
        super().__init__(device, logger)
        self.blocks = ClearsWithoutWaiting()


class NvmathFreesAtOnce(NvmathManager):
    """Frees the memory when memalloc() returns."""

    def memalloc(self, size: int) -> Any:
        address: int = super().memalloc(size).device_ptr
        return Address(address)


class Address:
    """An address that owns nothing."""

    def __init__(self, address: int) -> None:
        self.ptr = address


class NvmathKeepsObjects(NvmathManager):
    """Holds on to all objects that it returned."""

    def __init__(self, device: int, logger: Any) -> None:
        super().__init__(device, logger)
        self._all: list[NvmathPointer] = []

    def memalloc(self, size: int) -> Any:
        self._all.append(super().memalloc(size))
        return self._all[-1]


class NvmathNamesNoAddress(NvmathManager):
    """Returns an object whose address has another name."""

    def memalloc(self, size: int) -> Any:
        return Named(super().memalloc(size))


class Named:
    """Memory with an address under a name that nobody looks for."""

    def __init__(self, memory: NvmathPointer) -> None:
        self._memory = memory
        self.address = memory.device_ptr
