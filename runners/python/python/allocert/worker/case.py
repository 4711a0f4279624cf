"""One case while it runs: its names, its context, and how a step becomes an outcome."""

import threading

from numba import cuda
from numba.cuda.cudadrv import driver as numba_driver

from . import driver as marks
from . import handle, held, hosted, load, manager  # noqa: F401 - they register the operations
from .names import Names
from .operation import OPERATIONS
from .outcome import Missing, Unraisable, raised


class Case:
    def __init__(self, case, subject, driver):
        self.id = case["id"]
        self.subject = subject
        self.driver = driver
        self.names = Names()
        self.last_manager = None
        self._steps = case["steps"]
        self._through = case["through"]
        self._contexts = {}

    def run(self, wire):
        # Through the manager, Numba's own one keeps the host's books; through the host, the case says which it is.
        own = numba_driver.NumbaCUDAMemoryManager
        numba_driver._memory_manager = own if self._through == "manager" else None
        wire.send("case", {"id": self.id})
        self.driver.mark(marks.STEP_BEGIN, marks.CASE)
        for step in self._steps:
            wire.send("step", {"index": step["index"], "outcome": self._outcome(step)})
        wire.send("done", {"id": self.id})

    def context(self, device=None):
        """The Numba context of a device, made at its first use; without a device, the one attached last."""
        if device is None:
            return self._contexts.get("attached")
        if device not in self._contexts:
            # Making a context leaves another one current, or none.
            with self.driver.harness(), self.driver.current_kept():
                self._contexts[device] = cuda.gpus[device].get_primary_context()
        return self._contexts[device]

    def attach(self, device):
        context = self._contexts["attached"] = self.context(device)
        self.driver.set_current(int(context.handle))

    def forget_contexts(self):
        """Numba made an end of its contexts."""
        self._contexts.clear()

    def manager(self, name):
        return self.names.get(name)

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
            except BaseException as error:  # noqa: BLE001 - SystemExit and the like are the subject's answer too
                outcome = raised(error)
            self.driver.mark(marks.STEP_END, step["index"])
        if unraisable.outcome is not None and "returned" in outcome:
            return unraisable.outcome
        return outcome
