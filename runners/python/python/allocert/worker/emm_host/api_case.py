"""A case that calls the API of a host of EMM plugins: of numba.cuda, or of a host under test."""

import weakref
from collections.abc import Mapping
from typing import Any

from numba import cuda

from ..driver import Driver
from ..emm_shared.case import NumbaCase
from ..operations import Arguments, Facts, Operation
from ..protocol import CaseDescription


class HostApiCase(NumbaCase):
    """What the operations on a host need. A subclass names the host and the plugin."""

    #: The module that has Numba's API.
    host: Any = cuda

    def __init__(
        self,
        described: CaseDescription,
        subject: Any,
        driver: Driver,
        operations: Mapping[str, Operation[Any]],
    ) -> None:
        super().__init__(described, subject, driver, operations)
        self._last_manager: weakref.ref[Any] | None = None
        self._seen_contexts: list[weakref.ref[Any]] = []

    def plugin(self, arguments: Arguments) -> type:
        """The class that a step `register` registers."""
        raise NotImplementedError

    def manager_facts(self, manager: Any) -> Facts:
        """The facts about the class of a context's manager."""
        raise NotImplementedError

    def host_closed(self) -> None:
        """Called after the host closed its contexts."""
        raise NotImplementedError

    def is_last_manager(self, manager: Any) -> bool:
        """Whether it is the manager of the call before; from now on that is this one."""
        before, self._last_manager = self._last_manager, weakref.ref(manager)
        return before is not None and before() is manager

    def closed_contexts(self, context: Any) -> int:
        """How many contexts of earlier calls are still alive, other than this one."""
        # By identity: a closed context equals the one that has its handle now.
        alive = [other for other in self._seen_contexts if other() is not None]
        others = [other for other in alive if other() is not context]
        self._seen_contexts = [*others, weakref.ref(context)]
        return len(others)
