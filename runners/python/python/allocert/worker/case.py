"""One case while it runs: the names that it bound, and how a step becomes an outcome."""

from collections.abc import Mapping
from typing import Any

from .bindings import Bindings, LifetimeOf
from .driver import Driver
from .operations import Operation
from .outcome import Declined, Missing, UnraisableHook, raised
from .protocol import Body, CaseDescription, Connection, Outcome, StepDescription
from .safe_text import bounded
from .step_threads import StepThread, on_fresh_thread


def _itself(value: Any) -> tuple[Any, None]:
    return value, None


class Case:
    """What the cases of every interface share; each interface derives its own class."""

    #: Gives the object whose end counts as the end of a bound one.
    lifetime_of: LifetimeOf = staticmethod(_itself)

    def __init__(
        self,
        described: CaseDescription,
        subject: Any,
        driver: Driver,
        operations: Mapping[str, Operation[Any]],
    ) -> None:
        self.id = described["id"]
        self.subject = subject
        self.driver = driver
        self.bindings = Bindings(self.lifetime_of)
        self._operations = operations
        self._steps = described["steps"]
        self._second: StepThread[Outcome] | None = None

    def begin(self) -> None:
        """Called before the first step."""

    def attach(self, device: int) -> None:
        """Makes the context of this device current."""
        raise NotImplementedError

    def detach(self) -> None:
        """Leaves no context current."""
        self.driver.set_current(0)

    def begin_thread(self) -> None:
        """Called on a new thread before its step."""

    def before_step_end(self) -> None:
        """Called after the operation of a step, before the trace marks the end of the step."""

    def environment_changed(self, name: str) -> None:
        """Called after a step set this environment variable."""

    def step_details(self) -> Body:
        """What the message of a step contains besides its outcome."""
        return {}

    def run(self, connection: Connection, *, begun: bool = False) -> None:
        """Performs all steps and reports each. `begun`: the trace of the case has begun."""
        self.begin()
        connection.send("case", {"id": self.id})
        if not begun:
            self.driver.recorder.case_begin()
        for step in self._steps:
            outcome = self._outcome(step)
            body = {"index": step["index"], "outcome": outcome, **self.step_details()}
            connection.send("step", body)
        if self._second is not None:
            self._second.end()
        connection.send("done", {"id": self.id})

    def _outcome(self, step: StepDescription) -> Outcome:
        thread = step.get("thread")
        if thread == "fresh":
            return on_fresh_thread(self.begin_thread, lambda: self.perform(step))
        if thread == "second":
            if self._second is None:
                self._second = StepThread(self.begin_thread)
            return self._second.perform(lambda: self.perform(step))
        return self.perform(step)

    def perform(self, step: StepDescription) -> Outcome:
        """Performs one step. An operation that the table lacks is `unsupported`."""
        ((name, arguments),) = step["do"].items()
        function = self._operations.get(name)
        if function is None:
            return {"unsupported": {"operation": name}}
        with UnraisableHook() as unraisable:
            self.driver.recorder.step_begin(step["index"])
            try:
                outcome = {"returned": function(self, step.get("on", "m"), arguments) or {}}
            except Missing as missing:
                outcome = {"skipped": {"because": missing.args[0]}}
            except Declined as reason:
                outcome = {"declined": {"because": bounded(reason)}}
            except BaseException as error:  # noqa: BLE001 - SystemExit too is the subject's answer
                outcome = raised(error)
            self.before_step_end()
            self.driver.recorder.step_end(step["index"])
        if unraisable.outcome is not None and "returned" in outcome:
            return unraisable.outcome
        return outcome
