"""Plugins that keep reset() and finalizers apart in a way of their own."""

import threading

from allocert_mutants.emm.conforming_plugin import Blocks, Manager, OneTableForContext
from numba.cuda.cudadrv.driver import driver


class LockedBlocks(Blocks):
    """One thread at a time. A finalizer in the middle of another call of its thread goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()

    def allocate(self, size: int) -> int:
        with self.lock:
            return super().allocate(size)

    def release(self, token: int) -> None:
        with self.lock:
            super().release(token)

    def flush(self) -> None:
        with self.lock:
            super().flush()

    def reset(self) -> None:
        with self.lock:
            super().reset()


class ResetsUnderLock(Manager):
    """Holds a reentrant lock in reset() that its finalizers take."""

    blocks_class = LockedBlocks


class BlocksApart(Blocks):
    """A late finalizer finds nothing in the new table."""

    def reset(self) -> None:
        old, self.live = self.live, {}
        self.flush()
        for address in old.values():
            driver.cuMemFree(address)


class ResetsTableApart(Manager):
    """Begins an empty table of blocks in reset(), and then frees those of the old one."""

    blocks_class = BlocksApart


class ClearsWholeContext(OneTableForContext):
    """Frees the memory of all managers of a context when one of them is reset."""
