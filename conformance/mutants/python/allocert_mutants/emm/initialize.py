"""Plugins with a faulty initialize()."""

import threading
from typing import Any, ClassVar

from numba.cuda import HostOnlyCUDAMemoryManager, MemoryInfo, MemoryPointer
from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import Finalizer, Manager


class ReturnsTrue(Manager):
    """Returns True from initialize()."""

    def initialize(self) -> bool:  # type: ignore[override]  # the mutation
        super().initialize()
        return True


class Allocates(Manager):
    """Allocates in every initialize()."""

    def initialize(self) -> None:
        super().initialize()
        self.scratch = self.memalloc(1 << 20)


class OnceOnly(Manager):
    """Raises in a second initialize()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initialized = False

    def initialize(self) -> None:
        super().initialize()
        if self.initialized:
            raise RuntimeError("already initialized")
        self.initialized = True


class FreesLiveMemory(Manager):
    """Frees all live memory in every initialize()."""

    def initialize(self) -> None:
        super().initialize()
        self.blocks.reset()


class ForgetsLiveBlocks(Manager):
    """Empties its table of live blocks in every initialize()."""

    def initialize(self) -> None:
        super().initialize()
        self.blocks.live.clear()


class FreesAtReset(Manager):
    """Conforms: frees released blocks at reset()."""

    def finalizer(self, token: int) -> Finalizer:
        blocks = self.blocks

        def release() -> None:
            address = blocks.live.pop(token, None)
            if address is not None:
                blocks.pending.append(address)

        return release


class ForgetsReleasedBlocks(FreesAtReset):
    """Empties its queue of released blocks in every initialize()."""

    def initialize(self) -> None:
        super().initialize()
        self.blocks.pending.clear()


class ForgetsDeferredBlocks(Manager):
    """Empties its queue of released blocks in an initialize() inside defer_cleanup()."""

    def initialize(self) -> None:
        super().initialize()
        if self.blocks.deferring:
            self.blocks.pending.clear()


class ForgetsScopes(Manager):
    """Counts the scopes of defer_cleanup() from zero again in every initialize()."""

    def initialize(self) -> None:
        super().initialize()
        self.blocks.deferring = 0

    def memalloc(self, size: int) -> MemoryPointer:
        if self.blocks.deferring < 0:
            raise RuntimeError("more scopes were left than entered")
        return super().memalloc(size)


class ConstructsHostMemoryAgain(Manager):
    """Calls the constructor of the base class in every initialize()."""

    def initialize(self) -> None:
        super().initialize()
        HostOnlyCUDAMemoryManager.__init__(self, context=self.context)


class ForgetsStatistics(Manager):
    """Counts the memory in use from zero again in every initialize()."""

    def initialize(self) -> None:
        super().initialize()
        self.used_bytes = 0

    def memalloc(self, size: int) -> MemoryPointer:
        memory = super().memalloc(size)
        self.used_bytes += size
        return memory

    def get_memory_info(self) -> MemoryInfo:
        total = driver.cuMemGetInfo()[1]
        return MemoryInfo(free=total - self.used_bytes, total=total)


class SecondDeviceForgetsBlocks(Manager):
    """Empties the tables of all managers when another one is initialized."""

    managers: ClassVar[list[Manager]] = []

    def initialize(self) -> None:
        super().initialize()
        for manager in self.managers:
            if manager is not self:
                manager.blocks.live.clear()
        if self not in self.managers:
            self.managers.append(self)


class OfOneThread(Manager):
    """Refuses an initialize() on another thread than the first one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.thread: int | None = None

    def initialize(self) -> None:
        super().initialize()
        self.thread = self.thread or threading.get_ident()
        if self.thread != threading.get_ident():
            self.on_other_thread()

    def on_other_thread(self) -> None:
        raise RuntimeError("another thread initialized this manager")


class OtherThreadFreesLiveMemory(OfOneThread):
    """Frees all live memory in an initialize() on another thread than the first one."""

    def on_other_thread(self) -> None:
        self.blocks.reset()
