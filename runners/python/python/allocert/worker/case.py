"""One case while it runs: its names, and how a step becomes an outcome. Each interface has a stage that goes on from here."""

import threading

from . import driver as marks
from . import process  # noqa: F401 - it registers operations
from .names import Names
from .operation import OPERATIONS
from .outcome import Declined, Missing, Unraisable, raised
from .text import bounded


class Case:
    def __init__(self, case, subject, driver, root):
        self.id = case["id"]
        self.subject = subject
        self.driver = driver
        self.names = Names(root)
        self._steps = case["steps"]

    def begin(self):
        """Before the first step."""

    def attach(self, device):
        """The context of this device becomes current."""
        raise NotImplementedError

    def environment_changed(self, name):
        """A step set this variable."""

    def heard(self):
        """What the line of a step tells besides its outcome."""
        return {}

    def run(self, wire):
        self.begin()
        wire.send("case", {"id": self.id})
        self.driver.mark(marks.STEP_BEGIN, marks.CASE)
        for step in self._steps:
            wire.send(
                "step", {"index": step["index"], "outcome": self._outcome(step), **self.heard()}
            )
        wire.send("done", {"id": self.id})

    def _outcome(self, step):
        if step.get("thread") != "fresh":
            return self._perform(step)
        answer = []
        thread = threading.Thread(target=lambda: answer.append(self._perform(step)), daemon=True)
        thread.start()
        thread.join()
        return answer[0]

    def _perform(self, step):
        ((name, arguments),) = step["do"].items()
        function = OPERATIONS.get(name)
        if function is None:
            return {"unsupported": {"operation": name}}
        with Unraisable() as unraisable:
            self.driver.mark(marks.STEP_BEGIN, step["index"])
            try:
                outcome = {"returned": function(self, step.get("on", "m"), arguments) or {}}
            except Missing as missing:
                outcome = {"skipped": {"because": missing.args[0]}}
            except Declined as reason:
                outcome = {"declined": {"because": bounded(reason)}}
            except BaseException as error:  # noqa: BLE001 - SystemExit and the like are the subject's answer too
                outcome = raised(error)
            self.driver.mark(marks.STEP_END, step["index"])
        if unraisable.outcome is not None and "returned" in outcome:
            return unraisable.outcome
        return outcome
