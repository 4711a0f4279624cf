"""A case of the CUDA Array Interface: the worker's own device, and the subject's adapter."""

from collections.abc import Callable, Mapping
from typing import Any

from ..case import Case
from ..device import Device
from ..driver import Driver
from ..operations import Arguments, Operation
from ..outcome import Declined
from ..protocol import CaseDescription
from ..safe_access import read_attribute
from ..safe_text import class_name

#: The name that a case binds the adapter to.
_ADAPTER = "adapter"


def _lifetime_of(value: Any) -> tuple[Any, None]:
    """An import stands for the object that the library made."""
    return (value.value if isinstance(value, Imported) else value), None


class Imported:
    """What the subject made of an exporter."""

    def __init__(self, value: Any, typestr: Callable[[], str], descr: Any) -> None:
        self.value = value
        self._typestr = typestr
        #: What the worker's exporter gave as `descr`, or None.
        self.descr = descr

    @property
    def typestr(self) -> str:
        """The typestr that the exporter gave for its elements."""
        return self._typestr()


class AdapterCase(Case):
    """What the cases of both sides share."""

    lifetime_of = staticmethod(_lifetime_of)

    def __init__(
        self,
        described: CaseDescription,
        subject: Any,
        driver: Driver,
        operations: Mapping[str, Operation[Any]],
    ) -> None:
        super().__init__(described, subject, driver, operations)
        self.device = Device(driver)

    def begin_thread(self) -> None:
        # A library's own threads have its context too.
        self.attach(0)

    def attach(self, device: int) -> None:
        self.device.attach(self.driver.primary_context(device))

    def detach(self) -> None:
        self.device.attach(0)

    def before_step_end(self) -> None:
        # A call may leave no context current, which is a freedom of the subject. The judge takes
        # the legacy stream that it exported for that of the context at the end of the step.
        self.device.restore_context()

    def adapter_class(self) -> Any:
        """The class of the adapter that performs the step."""
        return self.subject.cls

    def adapter(self) -> Any:
        """The adapter that performs the step."""
        return self.bindings.get(_ADAPTER)

    def adapter_method(self, name: str) -> Callable[..., Any]:
        """A method of the adapter. Raises Declined if it has none."""
        method = read_attribute(self.adapter(), name)
        if not callable(method):
            raise Declined(f"{class_name(self.adapter_class())} has no method `{name}`")
        return method  # type: ignore[no-any-return]

    def named(self, arguments: Arguments, field: str) -> Any:
        """The object whose name stands in an optional field of an operation, or None."""
        name = arguments.get(field)
        return None if name is None else self.bindings.get(name)
