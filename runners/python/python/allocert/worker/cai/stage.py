"""What a case of the interface cai stands on: the worker's own device, and the subject's adapter."""

import ctypes

from ..case import Case
from ..outcome import Declined
from ..peek import read
from ..text import class_name
from . import consumer, producer, shared  # noqa: F401 - they register the operations
from .consumer import Imported
from .device import Device

#: The name under which the adapter is held.
ADAPTER = "adapter"


def _root(value):
    """The object whose life is asked about."""
    return (value.value if isinstance(value, Imported) else value), None


class Stage(Case):
    def __init__(self, case, subject, driver):
        super().__init__(case, subject, driver, _root)
        self.device = Device(driver)

    def attach(self, device):
        context = ctypes.c_void_p()
        with self.driver.harness():
            self.driver.call("cuInit", ctypes.c_uint(0))
            self.driver.call(
                "cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(device)
            )
        self.driver.set_current(context.value)

    def adapted(self, method):
        """A method of the adapter; Declined where it has none."""
        found = read(self.adapter(), method)
        if not callable(found):
            raise Declined(f"{class_name(self.adapter_class())} has no method `{method}`")
        return found

    def adapter(self):
        """The adapter that the step is about."""
        return self.names.get(ADAPTER)

    def adapter_class(self):
        return self.subject.cls

    def named(self, arguments, field):
        """The object that an optional field of an operation names, or None."""
        name = arguments.get(field)
        return None if name is None else self.names.get(name)
