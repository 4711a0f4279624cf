"""The forked child: performs its cases in order, then leaves."""

import os
import sys

#: What the child performed, held until the interpreter itself lets go: a case may ask to end with everything alive.
_performed = []


class Batch:
    def __init__(self, cases, stage, subject, driver, wire):
        self._cases, self._stage = cases, stage
        self._subject, self._driver, self._wire = subject, driver, wire

    def perform(self):
        """Returns only for a case that ends as a program ends; such a case is the last of its batch."""
        self._prepare()
        for described in self._cases:
            self._driver.fault_clear()
            case = self._stage(described, self._subject, self._driver)
            _performed[:] = [case]
            case.run(self._wire)
            if described.get("ending") == "exit":
                return 0
        _flush()
        os._exit(0)

    def _prepare(self):
        """The driver of the batch. Libraries hold on to their contexts, so a later case of a batch goes on with them."""
        self._driver.restart(self._cases[0].get("driver") or {})
        if self._subject.initialized_driver:
            # The subject's import did this in the server, and what it holds believes that it is
            # still so.
            self._driver.initialize()


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001 - the subject may have closed or replaced it
            continue
