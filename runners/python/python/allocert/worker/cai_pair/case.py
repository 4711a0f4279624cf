"""A case with two adapters."""

from typing import Any

from ..cai_shared.case import AdapterCase
from ..protocol import Outcome, StepDescription
from .subject import PairSubject


class PairCase(AdapterCase):
    """The field `on` of a step names the adapter that performs it."""

    subject: PairSubject
    _role = ""

    def perform(self, step: StepDescription) -> Outcome:
        self._role = step.get("on", "")
        return super().perform(step)

    def adapter_class(self) -> Any:
        return self.subject.adapters[self._role].cls

    def adapter(self) -> Any:
        return self.bindings.get(self._role)
