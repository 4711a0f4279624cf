"""The forked child: it performs the cases of its batch in order, then leaves."""

import contextlib
import os
import sys
import types

from .case import Case
from .driver import Driver
from .interface import Interface, Subject
from .protocol import CaseDescription, Connection


class _LastCase(types.ModuleType):
    """Keeps the case that was performed last until the interpreter shuts down.

    A case may end with all its objects alive, and Python frees at its end what its modules hold.
    The worker's own modules would keep it for ever: the server froze them, so that the garbage
    collector does not see them.
    """

    def __init__(self, case: Case) -> None:
        super().__init__("allocert_last_case")
        self.case = case
        sys.modules[self.__name__] = self


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
            _LastCase(case)
            case.run(self._connection, begun=self._begun)
            self._begun = False
            if described.get("ending") == "exit":
                return 0
        _flush()
        os._exit(0)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # The subject may have closed or replaced the stream.
        with contextlib.suppress(BaseException):
            stream.flush()
