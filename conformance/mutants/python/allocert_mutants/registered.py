"""Faults that show when the class is looked at, registered or made."""

from numba.cuda import HostOnlyCUDAMemoryManager
from numba.cuda.cudadrv.driver import driver

from .honest import Manager


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
