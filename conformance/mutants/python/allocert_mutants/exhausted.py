"""Faults in the face of a lack of memory and of other errors."""

from numba.cuda.cudadrv.driver import CudaAPIError

from .honest import OUT_OF_MEMORY, Manager


class SwallowsOutOfMemory(Manager):
    def memalloc(self, size):
        try:
            return super().memalloc(size)
        except CudaAPIError as error:
            if error.code == OUT_OF_MEMORY:
                return None
            raise


class SwallowsEveryError(Manager):
    def memalloc(self, size):
        try:
            return super().memalloc(size)
        except CudaAPIError:
            return None


class Renames(Manager):
    """Nobody can tell that it was memory that was missing."""

    def memalloc(self, size):
        try:
            return super().memalloc(size)
        except CudaAPIError:
            raise RuntimeError("allocation failed") from None


class PanicsAndResets(Manager):
    """A request that fails takes every live allocation with it."""

    def memalloc(self, size):
        try:
            return super().memalloc(size)
        except CudaAPIError:
            self.blocks.reset()
            raise


class GivesUp(Manager):
    """After one failure no request is served."""

    failed = False

    def memalloc(self, size):
        if self.failed:
            raise RuntimeError("an earlier request failed")
        try:
            return super().memalloc(size)
        except CudaAPIError:
            self.failed = True
            raise


class Hoards(Manager):
    """Never gives back what was dropped until reset()."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.blocks.deferring = 1
