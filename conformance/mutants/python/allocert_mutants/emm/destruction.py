"""Plugins that go wrong when their manager is deleted."""

from typing import Any

from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import Blocks, Manager

_blocks_of_contexts: dict[int, Blocks] = {}


class Raises(Manager):
    """Raises in __del__()."""

    def __del__(self) -> None:
        raise RuntimeError("this manager cannot be deleted")


class NeedsContext(Manager):
    """Calls the driver in __del__(), where no context may be current."""

    def __del__(self) -> None:
        if self.context is not None:
            driver.cuMemGetInfo()


class EndsContext(Manager):
    """Keeps one table for all managers of a context, and frees its memory in __del__()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Numba makes one manager without a context, to ask for its version.
        if self.context is not None:
            handle = int(self.context.handle)
            self.blocks = _blocks_of_contexts.setdefault(handle, self.blocks)

    def __del__(self) -> None:
        self.blocks.reset()
