"""A case of `emm-host`: the host under test, and the plugins that it is given."""

import itertools
from collections.abc import Mapping
from typing import Any

from ..driver import Driver
from ..emm_shared import facts
from ..operations import Arguments, Facts, Operation
from ..protocol import Body, CaseDescription
from ..safe_access import read_attribute
from . import recording_plugin
from .api_case import HostApiCase
from .call_log import CallLog
from .subject import HostSubject


class HostCase(HostApiCase):
    """The case calls the subject, which calls the plugins of the worker."""

    def __init__(
        self,
        described: CaseDescription,
        subject: HostSubject,
        driver: Driver,
        operations: Mapping[str, Operation[Any]],
    ) -> None:
        super().__init__(described, subject, driver, operations)
        self.host = subject.cls
        self.call_log = CallLog(driver)
        self._registrations = itertools.count(1)

    def step_details(self) -> Body:
        calls = self.call_log.take()
        return {"plugin_calls": calls} if calls else {}

    def plugin(self, arguments: Arguments) -> type:
        """A new plugin class with the options of the step."""
        shape = recording_plugin.PluginShape(arguments.get("plugin", {}))
        version = arguments.get("interface_version", 1)
        return recording_plugin.make_plugin_class(
            self.host, shape, self.call_log, self.driver, next(self._registrations), version
        )

    def manager_facts(self, manager: Any) -> Facts:
        registration = facts.number(read_attribute(manager, "registration"))
        return {"manager_is_plugin": registration is not None, "registration": registration}

    def host_closed(self) -> None:
        # What the host needs for its next context is the host's to do.
        self.forget_contexts()
