"""Plugins that go wrong when their class is checked, registered or instantiated."""

from typing import Any

from numba.cuda import HostOnlyCUDAMemoryManager, IpcHandle, MemoryInfo, MemoryPointer
from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import Blocks, HostMemory, Manager


class Version2(Manager):
    """Reports interface version 2."""

    interface_version = property(lambda self: 2)


class VersionIsString(Manager):
    """Reports interface version "1", a string."""

    interface_version = property(lambda self: "1")


class VersionIsBool(Manager):
    """Reports interface version True."""

    interface_version = property(lambda self: True)


class Abstract(HostOnlyCUDAMemoryManager):
    """Does not implement memalloc() and get_ipc_handle()."""

    interface_version = property(lambda self: 1)

    def initialize(self) -> None:
        super().initialize()

    def get_memory_info(self) -> MemoryInfo:
        raise NotImplementedError


class ConstructorNeedsContext(Manager):
    """Uses its context in the constructor, but registration creates a manager without one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.device = self.context.device


class ConstructorDropsContext(Manager):
    """Does not pass its context on to the base class."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(context=None)


class ConstructorAllocates(Manager):
    """Allocates in the constructor."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.context is not None:
            self.scratch = self.memalloc(4096)


class RegistrationCallsDriver(Manager):
    """Calls the driver when it is created without a context."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        driver.cuDeviceGetCount()


class NotASubclass:
    """Has the methods of the interface, but not its base class."""

    interface_version = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._manager = Manager(*args, **kwargs)

    def initialize(self) -> None:
        self._manager.initialize()

    def memalloc(self, size: int) -> MemoryPointer:
        return self._manager.memalloc(size)

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        return self._manager.memhostalloc(size, mapped, portable, wc)

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        return self._manager.mempin(owner, pointer, size, mapped)

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        return self._manager.get_ipc_handle(memory)

    def get_memory_info(self) -> MemoryInfo:
        return self._manager.get_memory_info()

    def reset(self) -> None:
        self._manager.reset()

    def defer_cleanup(self) -> Any:
        return self._manager.defer_cleanup()


class SkipsBaseConstructor(Manager):
    """Does not call the constructor of HostOnlyCUDAMemoryManager."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.context = kwargs["context"]
        self.blocks = Blocks()

    def reset(self) -> None:
        self.blocks.reset()


class VersionChangesLater(Manager):
    """Reports interface version 2 after the first request for memory."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.version = 1

    def memalloc(self, size: int) -> MemoryPointer:
        self.version = 2
        return super().memalloc(size)

    @property
    def interface_version(self) -> int:
        return self.version


class ConstructorRaises(Manager):
    """Raises in the constructor."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("this constructor always raises")
