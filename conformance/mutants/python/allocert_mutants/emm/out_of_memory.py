"""Plugins that go wrong when memory is short or the driver reports another error."""

from typing import Any

from numba.cuda import MemoryPointer
from numba.cuda.cudadrv.driver import CudaAPIError

from .conforming_plugin import OUT_OF_MEMORY, Blocks, Manager


class OutOfMemoryIsNone(Manager):
    """Returns None when memory is short."""

    def memalloc(self, size: int) -> MemoryPointer | None:
        try:
            return super().memalloc(size)
        except CudaAPIError as error:
            if error.code == OUT_OF_MEMORY:
                return None
            raise


class EveryErrorIsNone(Manager):
    """Returns None for every driver error."""

    def memalloc(self, size: int) -> MemoryPointer | None:
        try:
            return super().memalloc(size)
        except CudaAPIError:
            return None


class OutOfMemoryIsRuntimeError(Manager):
    """Raises a RuntimeError that does not mention memory when memory is short."""

    def memalloc(self, size: int) -> MemoryPointer:
        try:
            return super().memalloc(size)
        except CudaAPIError:
            raise RuntimeError("allocation failed") from None


class FreesLiveMemory(Manager):
    """Frees all live memory when a request fails."""

    def memalloc(self, size: int) -> MemoryPointer:
        try:
            return super().memalloc(size)
        except CudaAPIError:
            self.blocks.reset()
            raise


class RefusesAfterFailure(Manager):
    """Refuses every request after a failed one."""

    failed = False

    def memalloc(self, size: int) -> MemoryPointer:
        if self.failed:
            raise RuntimeError("an earlier request failed")
        try:
            return super().memalloc(size)
        except CudaAPIError:
            self.failed = True
            raise


class KeepsReleasedMemory(Manager):
    """Keeps released memory until reset()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.blocks.deferring = 1


class _LooksAtEnds(Blocks):
    """Cuts small blocks from a chunk, and frees it out of memory if the first and last are free."""

    SMALL_BYTES, COUNT = 4096, 3

    def __init__(self) -> None:
        super().__init__()
        self.cut: list[int] = []
        self.free: list[int] = []

    def take(self, size: int) -> int:
        if size == self.SMALL_BYTES and (self.free or not self.cut):
            if not self.cut:
                base = super().take(self.SMALL_BYTES * self.COUNT)
                self.cut = [base + index * size for index in range(self.COUNT)]
                self.free = list(reversed(self.cut))
            return self.free.pop()
        try:
            return super().take(size)
        except CudaAPIError:
            if self.cut and self.cut[0] in self.free and self.cut[-1] in self.free:
                self.give_chunk()
            raise

    def give(self, address: int) -> None:
        if address in self.cut:
            self.free.append(address)
        else:
            super().give(address)

    def give_chunk(self) -> None:
        base = self.cut[0]
        self.cut, self.free = [], []
        super().give(base)

    def reset(self) -> None:
        super().reset()
        if self.cut:
            self.give_chunk()


class FreesChunkByItsEnds(Manager):
    """Frees a chunk whose first and last blocks are free, although the one between lives."""

    blocks_class = _LooksAtEnds


class _LosesHeaders(Blocks):
    """Takes a header from the driver for each request, and loses it if the request fails."""

    HEADER_BYTES = 4096

    def allocate(self, size: int) -> int:
        header = self.take(self.HEADER_BYTES)
        token = super().allocate(size)
        self.give(header)
        return token


class FailedRequestLosesHeader(Manager):
    """Loses 4096 bytes with each request that fails."""

    blocks_class = _LosesHeaders
