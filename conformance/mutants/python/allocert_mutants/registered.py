"""Faults that show when the class is looked at, registered or made."""

from numba.cuda import HostOnlyCUDAMemoryManager
from numba.cuda.cudadrv.driver import driver

from .honest import Blocks, Manager


class Version2(Manager):
    interface_version = property(lambda self: 2)


class VersionText(Manager):
    interface_version = property(lambda self: "1")


class VersionTrue(Manager):
    interface_version = property(lambda self: True)


class Abstract(HostOnlyCUDAMemoryManager):
    """memalloc and get_ipc_handle are left out."""

    interface_version = property(lambda self: 1)

    def initialize(self):
        super().initialize()

    def get_memory_info(self):
        raise NotImplementedError


class UsesContextAtOnce(Manager):
    """Asks the context for its device when it is made: registration makes a manager without one."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.device = self.context.device


class LosesContext(Manager):
    def __init__(self, *args, **kwargs):
        super().__init__(context=None)


class AllocatesAtBirth(Manager):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.context is not None:
            self.scratch = self.memalloc(4096)


class StartsDriverAtRegistration(Manager):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        driver.cuDeviceGetCount()


class LookAlike:
    """Has all methods of the interface and not its base class."""

    interface_version = 1

    def __init__(self, *args, **kwargs):
        self._manager = Manager(*args, **kwargs)

    def initialize(self):
        self._manager.initialize()

    def memalloc(self, size):
        return self._manager.memalloc(size)

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        return self._manager.memhostalloc(size, mapped, portable, wc)

    def mempin(self, owner, pointer, size, mapped=False):
        return self._manager.mempin(owner, pointer, size, mapped)

    def get_ipc_handle(self, memory):
        return self._manager.get_ipc_handle(memory)

    def get_memory_info(self):
        return self._manager.get_memory_info()

    def reset(self):
        self._manager.reset()

    def defer_cleanup(self):
        return self._manager.defer_cleanup()


class SkipsConstructor(Manager):
    """Its own constructor leaves that of HostOnlyCUDAMemoryManager out."""

    def __init__(self, *args, **kwargs):
        self.context = kwargs["context"]
        self.blocks = Blocks()

    def reset(self):
        self.blocks.reset()
