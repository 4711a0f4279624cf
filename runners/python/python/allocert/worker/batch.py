"""The forked child: it performs the cases of its batch in order, then leaves."""

import contextlib
import gc
import os
import sys

from .case import Case
from .driver import Driver
from .interface import Interface, Subject
from .protocol import CaseDescription, Connection

#: The case that was performed last. The child keeps it until the interpreter shuts down, because a
#: case may end with all its objects alive.
_last_case: list[Case] = []


class Batch:
    """The cases that one child performs."""

    def __init__(
        self,
        cases: list[CaseDescription],
        interface: Interface,
        subject: Subject,
        driver: Driver,
        connection: Connection,
        *,
        begun: bool,
    ) -> None:
        """`begun`: the first case began with the import of the subject."""
        self._cases, self._interface, self._subject = cases, interface, subject
        self._driver, self._connection = driver, connection
        self._begun = begun

    def perform(self) -> int:
        """Performs all cases and ends the process.

        The cases of a batch share one driver: libraries keep their contexts between cases.
        Returns only if the last case asks to end as a program ends; then the value is the exit
        code.
        """
        for described in self._cases:
            self._driver.fault_clear()
            case = self._interface.new_case(described, self._subject, self._driver)
            _last_case[:] = [case]
            case.run(self._connection, begun=self._begun)
            self._begun = False
            if described.get("ending") == "exit":
                # Python frees at its end only what its collector sees, and the server froze what
                # was there before the fork.
                gc.unfreeze()
                return 0
        _flush()
        os._exit(0)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # The subject may have closed or replaced the stream.
        with contextlib.suppress(BaseException):
            stream.flush()
