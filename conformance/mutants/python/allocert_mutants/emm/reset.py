"""Plugins with a faulty reset()."""

import functools
import threading
from typing import Any, ClassVar

from numba.cuda import HostOnlyCUDAMemoryManager, MemoryPointer
from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import Blocks, HostMemory, Manager


class NeedsInitialize(Manager):
    """Raises in reset() before initialize()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initialized = False

    def initialize(self) -> None:
        super().initialize()
        self.initialized = True

    def reset(self) -> None:
        if not self.initialized:
            raise RuntimeError("not initialized")
        super().reset()


class KeepsHostMemory(Manager):
    """Does not call super().reset(), so that mapped memory is not freed."""

    def reset(self) -> None:
        self.blocks.reset()


class KeepsDeviceMemory(Manager):
    """Frees no device memory in reset()."""

    def reset(self) -> None:
        super(Manager, self).reset()


class AlwaysRaises(Manager):
    """Resets and then raises."""

    def reset(self) -> None:
        super().reset()
        raise RuntimeError("this reset() always raises")


class OnceOnly(Manager):
    """Raises in a second reset()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.done = False

    def reset(self) -> None:
        if self.done:
            raise RuntimeError("reset() was called before")
        super().reset()
        self.done = True


class ReturnsSelf(Manager):
    """Returns the manager from reset()."""

    def reset(self) -> "ReturnsSelf":  # type: ignore[override]  # the mutation
        super().reset()
        return self


class NeedsContext(Manager):
    """Fails in reset() while no context is current."""

    def reset(self) -> None:
        driver.cuMemGetInfo()
        super().reset()


class NeedsSecondInitialize(Manager):
    """Refuses every request between a reset() and the next initialize()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initialized = True

    def initialize(self) -> None:
        super().initialize()
        self.initialized = True

    def memalloc(self, size: int) -> MemoryPointer:
        if not self.initialized:
            raise RuntimeError("not initialized")
        return super().memalloc(size)

    def reset(self) -> None:
        super().reset()
        self.initialized = False


_blocks_of_all_managers: list[Blocks] = []


class FreesAllManagers(Manager):
    """Frees the memory of all managers when one of them is reset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _blocks_of_all_managers.append(self.blocks)

    def reset(self) -> None:
        super().reset()
        for blocks in _blocks_of_all_managers:
            blocks.reset()


class EarlyResetFreesOthers(Manager):
    """Frees the memory of all managers when it is reset before initialize()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initialized = False
        _blocks_of_all_managers.append(self.blocks)

    def initialize(self) -> None:
        super().initialize()
        self.initialized = True

    def reset(self) -> None:
        super().reset()
        if not self.initialized:
            for blocks in _blocks_of_all_managers:
                blocks.reset()


class EarlyResetEndsHostMemory(Manager):
    """Serves no host memory after a reset before initialize()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initialized = self.without_host_memory = False

    def initialize(self) -> None:
        super().initialize()
        self.initialized = True

    def reset(self) -> None:
        super().reset()
        self.without_host_memory |= not self.initialized

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        if self.without_host_memory:
            raise RuntimeError("there is no table for host memory")
        return super().memhostalloc(size, mapped, portable, wc)


_host_managers: list[Any] = []


class EarlyResetFreesHostMemoryOfOthers(Manager):
    """Frees the host memory of all managers when it is reset before initialize()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initialized = False
        _host_managers.append(self)

    def initialize(self) -> None:
        super().initialize()
        self.initialized = True

    def reset(self) -> None:
        if not self.initialized:
            for manager in _host_managers:
                super(Manager, manager).reset()
        super().reset()


class ForgetsPool(Manager):
    """Keeps released memory in a pool and makes an empty pool at each reset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pool: dict[int, list[int]] = {}
        self.sizes: dict[int, int] = {}

    def memalloc(self, size: int) -> MemoryPointer:
        idle = self.pool.get(size)
        address = idle.pop() if idle else self.blocks.live[self.blocks.allocate(size)]
        self.sizes[address] = size
        return self.wrap(address, size, functools.partial(self.keep, address))

    def keep(self, address: int) -> None:
        size = self.sizes.pop(address, None)
        if size is not None:
            self.pool.setdefault(size, []).append(address)

    def reset(self) -> None:
        HostOnlyCUDAMemoryManager.reset(self)
        self.blocks, self.pool, self.sizes = Blocks(), {}, {}


class IteratedBlocks(Blocks):
    """Frees the blocks one after the other, and forgets them all at the end."""

    def reset(self) -> None:
        for address in self.live.values():
            driver.cuMemFree(address)
        self.live.clear()
        self.flush()


class IteratesOverBlocks(Manager):
    """Goes through the table of live blocks in reset() while finalizers can change it."""

    blocks_class = IteratedBlocks


class BlocksOfThread(Blocks):
    """Ignores the releases of a thread while it resets, and not those of other threads."""

    resetting: int | None = None

    def release(self, token: int) -> None:
        if self.resetting != threading.get_ident():
            super().release(token)

    def reset(self) -> None:
        self.resetting = threading.get_ident()
        try:
            for address in list(self.live.values()):
                driver.cuMemFree(address)
            self.live.clear()
            self.flush()
        finally:
            self.resetting = None


class ResetIgnoresOtherThreads(Manager):
    """Is safe in reset() from finalizers of its own thread, and not from those of others."""

    blocks_class = BlocksOfThread


class ForgetsPendingOfOthers(Manager):
    """Shares one queue of released blocks among all managers, and empties it at each reset."""

    shared: ClassVar[list[int]] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.blocks.pending = self.shared

    def reset(self) -> None:
        self.shared.clear()
        super().reset()


class StopsReleasing(Manager):
    """Frees released blocks before the first reset(), and after it only in the next one."""

    def reset(self) -> None:
        super().reset()
        self.blocks.deferring += 1


class SecondForgetsLiveBlocks(Manager):
    """Empties its table of live blocks in every second reset(), and frees none of them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.resets = 0

    def reset(self) -> None:
        self.resets += 1
        if self.resets % 2 == 0:
            self.blocks.live.clear()
        super().reset()


class RefusesManyBlocks(Manager):
    """Raises in reset() if more than 100 blocks are live."""

    def reset(self) -> None:
        if len(self.blocks.live) > 100:
            raise RuntimeError("too many live blocks")
        super().reset()


class FreesAtMost100Blocks(Manager):
    """Frees 100 of the live blocks in reset(), and forgets all others."""

    def reset(self) -> None:
        while len(self.blocks.live) > 100:
            self.blocks.live.popitem()
        super().reset()


class EndsMemory(Manager):
    """Serves no device memory after reset()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.without_memory = False

    def memalloc(self, size: int) -> MemoryPointer:
        if self.without_memory:
            raise MemoryError("the pool is closed")
        return super().memalloc(size)

    def reset(self) -> None:
        super().reset()
        self.without_memory = True


class EarlyResetEndsMemory(Manager):
    """Serves no device memory after a reset before initialize()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initialized = self.without_memory = False

    def initialize(self) -> None:
        super().initialize()
        self.initialized = True

    def memalloc(self, size: int) -> MemoryPointer:
        if self.without_memory:
            raise RuntimeError("there is no table for device memory")
        return super().memalloc(size)

    def reset(self) -> None:
        super().reset()
        self.without_memory |= not self.initialized
