"""Plugins that go wrong when memory is short or the driver reports another error."""

from typing import Any

from numba.cuda import MemoryPointer
from numba.cuda.cudadrv.driver import CudaAPIError

from .conforming_plugin import OUT_OF_MEMORY, Manager


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
