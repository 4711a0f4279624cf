"""Plugins that go wrong when their manager is deleted."""

from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import Manager, OneTableForContext


class Raises(Manager):
    """Raises in __del__()."""

    def __del__(self) -> None:
        raise RuntimeError("this manager cannot be deleted")


class NeedsContext(Manager):
    """Calls the driver in __del__(), where no context may be current."""

    def __del__(self) -> None:
        if self.context is not None:
            driver.cuMemGetInfo()


class EndsContext(OneTableForContext):
    """Frees the memory of all managers of its context in __del__()."""

    def __del__(self) -> None:
        self.blocks.reset()
