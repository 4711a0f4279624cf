"""What a case of the side emm-host stands on: the host under test, and the plugins that it is given."""

import itertools

from numba.cuda.cudadrv import driver as numba_driver

from ...peek import read
from .. import facts
from ..stage import Stage
from . import foreign, operations, plugin  # noqa: F401 - operations register themselves
from .journal import Journal


class HostStage(Stage):
    def __init__(self, case, subject, driver):
        super().__init__(case, subject, driver)
        self.host = subject.cls
        self.journal = Journal(driver)
        self._registrations = itertools.count(1)

    def begin(self):
        numba_driver._memory_manager = None

    def heard(self):
        calls = self.journal.take()
        return {"plugin_calls": calls} if calls else {}

    def plugin(self, arguments):
        shape = plugin.Shape(arguments.get("plugin", {}))
        version = arguments.get("interface_version", 1)
        return plugin.make(
            self.host, shape, self.journal, self.driver, next(self._registrations), version
        )

    def manager_facts(self, manager):
        registration = facts.number(read(manager, "registration"))
        return {"manager_is_plugin": registration is not None, "registration": registration}

    def closed(self):
        """Whatever the host needs for its next context is the host's to do."""
        self._contexts.clear()
