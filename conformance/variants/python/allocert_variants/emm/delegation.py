"""Plugins that override the host memory of HostOnlyCUDAMemoryManager and call it."""

import contextlib
import logging
import weakref
from collections.abc import Iterator
from typing import Any

from allocert_mutants.emm.conforming_plugin import Blocks, HostMemory, Manager
from numba.cuda import (
    BaseCUDAMemoryManager,
    GetIpcHandleMixin,
    HostOnlyCUDAMemoryManager,
    MemoryInfo,
    MemoryPointer,
)

_log = logging.getLogger(__name__)


class LogsAndDelegates(Manager):
    """Writes a line of a log in each method, and calls the same method of its base class."""

    def initialize(self) -> None:
        _log.debug("initialize")
        super().initialize()

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        _log.debug("memhostalloc %s", size)
        return super().memhostalloc(size, mapped, portable, wc)

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        _log.debug("mempin %s", size)
        return super().mempin(owner, pointer, size, mapped)

    def reset(self) -> None:
        _log.debug("reset")
        super().reset()


class _CountsRequests:
    """A mixin that counts, and leaves the work to the next class."""

    requests = 0

    def memhostalloc(self, *args: Any, **kwargs: Any) -> Any:
        self.requests += 1
        return super().memhostalloc(*args, **kwargs)  # type: ignore[misc]  # of the next class

    def mempin(self, *args: Any, **kwargs: Any) -> Any:
        self.requests += 1
        return super().mempin(*args, **kwargs)  # type: ignore[misc]  # of the next class


class DelegatesInMixin(_CountsRequests, Manager):
    """Has host memory of its base class behind a mixin."""


class _HostMemoryOnly(HostOnlyCUDAMemoryManager):
    """The host memory of a plugin that is made of parts."""

    def initialize(self) -> None:
        """Nothing to do."""

    def memalloc(self, size: int) -> MemoryPointer:
        raise NotImplementedError(size)

    def get_memory_info(self) -> MemoryInfo:
        raise NotImplementedError

    def get_ipc_handle(self, memory: Any) -> Any:
        raise NotImplementedError(memory)

    @property
    def interface_version(self) -> int:
        return 1


class DelegatesToPart(GetIpcHandleMixin, BaseCUDAMemoryManager):
    """Holds a manager for host memory, and passes those calls on to it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.blocks = Blocks()
        self.host = _HostMemoryOnly(*args, **kwargs)

    def initialize(self) -> None:
        self.host.initialize()

    def memalloc(self, size: int) -> MemoryPointer:
        return Manager.memalloc(self, size)

    finalizer = Manager.finalizer
    wrap = Manager.wrap
    get_memory_info = Manager.get_memory_info

    def memhostalloc(self, size: int, mapped: bool, portable: bool, wc: bool) -> HostMemory:
        memory: HostMemory = self.host.memhostalloc(size, mapped, portable, wc)
        return memory

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool) -> HostMemory:
        memory: HostMemory = self.host.mempin(owner, pointer, size, mapped)
        return memory

    def reset(self) -> None:
        self.host.reset()
        self.blocks.reset()

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with self.host.defer_cleanup():
            self.blocks.deferring += 1
            try:
                yield
            finally:
                self.blocks.deferring -= 1
                if not self.blocks.deferring:
                    self.blocks.flush()

    @property
    def interface_version(self) -> int:
        return 1


class ReadsDeviceAgain(Manager):
    """Reads the properties of the device in each initialize(), and keeps all other state."""

    def initialize(self) -> None:
        super().initialize()
        context = weakref.proxy(self.context)
        self.capability = context.device.compute_capability
        self.total_bytes = self.get_memory_info().total


class InitializesOnce(Manager):
    """Does nothing in the second initialize() and in later ones."""

    is_initialized = False

    def initialize(self) -> None:
        if self.is_initialized:
            return
        self.is_initialized = True
        super().initialize()
        self.blocks = Blocks()
