"""A case of `emm`: on managers that the case makes itself, or on one that Numba makes."""

from typing import Any

from numba.cuda.cudadrv import driver as numba_driver

from ..emm_host.api_case import HostApiCase
from ..emm_shared.case import NumbaCase
from ..operations import Arguments, Facts
from .host_code import HOST_CODE_MARKS
from .subject import ManagerSubject


class ManagerCase(NumbaCase):
    """The case makes managers and calls them as Numba's Context does."""

    subject: ManagerSubject
    #: Numba's own manager serves Numba, so that only the case calls the subject.
    memory_manager = numba_driver.NumbaCUDAMemoryManager
    #: The manager returned device memory without a finalizer: it does not learn of releases.
    lacks_finalizers = False

    def begin(self) -> None:
        super().begin()
        HOST_CODE_MARKS.recorder = self.driver.recorder

    def new_context(self, device: int) -> Any:
        """Numba's context, prepared for use, so that a push() of the subject has nothing to do.

        The first push() asks the driver for the device's memory. If that fails, numba-cuda leaves
        the context on the stack.
        """
        context = super().new_context(device)
        context.push()
        context.pop()
        return context

    def manager(self, name: str) -> Any:
        """The manager of that name."""
        return self.bindings.get(name)


class InstalledManagerCase(HostApiCase):
    """The case calls numba.cuda, with the subject registered as its memory manager."""

    subject: ManagerSubject

    def begin(self) -> None:
        super().begin()
        HOST_CODE_MARKS.recorder = self.driver.recorder

    def plugin(self, arguments: Arguments) -> type:
        """The subject; with `interface_version`, a subclass that claims this version."""
        cls: type = self.subject.cls
        if "interface_version" not in arguments:
            return cls
        claimed = arguments["interface_version"]
        members = {"interface_version": property(lambda _self: claimed)}
        subclass: type = type(cls)(cls.__name__, (cls,), members)
        return subclass

    def manager_facts(self, manager: Any) -> Facts:
        return {"manager_is_subject": isinstance(manager, self.subject.cls)}

    def host_closed(self) -> None:
        self.forget_contexts()
        self.retain_primary_contexts()
