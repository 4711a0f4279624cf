"""A case of `nep49-host`: the host under test, and the handlers that it is given."""

import contextlib
import tracemalloc
from collections.abc import Mapping
from typing import Any

from ..case import Case
from ..driver import Driver
from ..operations import Operation
from ..protocol import CaseDescription
from .handlers import Handlers
from .subject import HandlerHostSubject

#: One for the process: what its handlers gave may come back in a later case.
_handlers: list[Handlers] = []


def _unwatched(_value: Any) -> tuple[None, None]:
    # NumPy refuses to resize an array that has a weak reference.
    return None, None


class HandlerHostCase(Case):
    """The case calls the subject, which calls the handlers of the worker."""

    lifetime_of = staticmethod(_unwatched)

    def __init__(
        self,
        described: CaseDescription,
        subject: HandlerHostSubject,
        driver: Driver,
        operations: Mapping[str, Operation[Any]],
    ) -> None:
        super().__init__(described, subject, driver, operations)
        if not _handlers:
            _handlers.append(Handlers())
        self.handlers = _handlers[0]
        self.host: Any = subject.cls
        self.previous: Any = None

    def begin(self) -> None:
        tracemalloc.stop()
        self.handlers.clear_faults()
        # The first steps report it if the host cannot even do this.
        with contextlib.suppress(Exception):
            self.subject.set_handler(None)

    def handler_name(self, *array: Any) -> Any:
        """What the host says of the installed handler, or of that of an array."""
        return self.subject.private.multiarray.get_handler_name(*array)

    def handler_version(self, *array: Any) -> Any:
        """As handler_name."""
        return self.subject.private.multiarray.get_handler_version(*array)
