"""The forked child: performs its cases in order, then leaves."""

import os
import sys

from .case import Case

#: What the child performed, held until the interpreter itself lets go: a case may ask to end with everything alive.
_performed = []


class Batch:
    def __init__(self, cases, subject, driver, wire):
        self._cases = cases
        self._subject, self._driver, self._wire = subject, driver, wire

    def perform(self):
        """Returns only for a case that ends as a program ends; such a case is the last of its batch."""
        for described in self._cases:
            self._driver.restart(described.get("driver") or {})
            case = Case(described, self._subject, self._driver)
            _performed.append(case)
            case.run(self._wire)
            if described.get("ending") == "exit":
                return 0
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:  # noqa: BLE001 - the subject may have closed or replaced it
                continue
        os._exit(0)
