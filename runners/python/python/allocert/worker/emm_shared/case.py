"""A case in which Numba's contexts exist."""

import ctypes
from collections.abc import Mapping
from typing import Any

from numba import cuda
from numba.cuda.core import config
from numba.cuda.cudadrv import driver as numba_driver

from ..case import Case
from ..driver import Driver
from ..operations import Operation
from ..protocol import CaseDescription
from .memory_objects import lifetime_of


class NumbaCase(Case):
    """What the cases of `emm` and `emm-host` share."""

    lifetime_of = staticmethod(lifetime_of)
    #: The class that numba-cuda makes managers of during the case; None: the case registers one.
    memory_manager: Any = None

    def __init__(
        self,
        described: CaseDescription,
        subject: Any,
        driver: Driver,
        operations: Mapping[str, Operation[Any]],
    ) -> None:
        super().__init__(described, subject, driver, operations)
        self._contexts: dict[int, Any] = {}
        self._attached: Any = None

    def begin(self) -> None:
        numba_driver._memory_manager = self.memory_manager

    def environment_changed(self, name: str) -> None:
        if name.startswith("NUMBA_"):
            config.reload_config()

    def context(self, device: int | None = None) -> Any:
        """Numba's context of a device; without one, of the device attached last, or None."""
        if device is None:
            return self._attached
        if device not in self._contexts:
            with self.driver.harness(), self.driver.current_kept():
                self._contexts[device] = self.new_context(device)
        return self._contexts[device]

    def new_context(self, device: int) -> Any:
        """Numba's context of a device. It leaves another context current, or none."""
        return cuda.gpus[device].get_primary_context()

    def attach(self, device: int) -> None:
        self._attached = self.context(device)
        self.driver.set_current(int(self._attached.handle))

    def forget_contexts(self) -> None:
        """Drops the worker's references to contexts that the host has closed."""
        self._contexts.clear()
        self._attached = None

    def retain_primary_contexts(self) -> None:
        """Retains the primary context of each device once more, as cuda.core should.

        cuda.core remembers the primary contexts that Numba has just released, and never retains
        them again: the next context would be dead, whatever the plugin does.
        """
        context = ctypes.c_void_p()
        with self.driver.harness():
            for device in numba_driver.driver.devices.values():
                self.driver.call(
                    "cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(device.id)
                )
