"""What a case of the interface emm stands on: Numba's contexts, and which manager keeps the host's own books."""

import ctypes
import weakref

from numba import cuda
from numba.cuda.core import config
from numba.cuda.cudadrv import driver as numba_driver

from ..case import Case
from . import handle, held, hosted, load, manager, reenter  # noqa: F401 - they register the operations
from .memory import root


class Stage(Case):
    #: What offers Numba's API.
    host = cuda

    def __init__(self, case, subject, driver):
        super().__init__(case, subject, driver, root)
        self._operations = case["operations"]
        self._last_manager = None
        self._opened = []
        self._contexts = {}

    def begin(self):
        # Steps of emm call the subject directly, so Numba keeps its own manager. Steps of emm-host
        # install one themselves.
        own = numba_driver.NumbaCUDAMemoryManager
        numba_driver._memory_manager = own if self._operations == "emm" else None

    def environment_changed(self, name):
        if name.startswith("NUMBA_"):
            config.reload_config()

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

    def closed(self):
        """Numba made an end of its contexts.

        cuda.core remembers the primary contexts that Numba has just released, and never retains them again: the next
        context would be a dead one, whatever the plugin does. So the worker does it for cuda.core.
        """
        self._contexts.clear()
        context = ctypes.c_void_p()
        with self.driver.harness():
            for device in numba_driver.driver.devices.values():
                self.driver.call(
                    "cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(device.id)
                )

    def plugin(self, arguments):
        """The class that a step registers."""
        cls = self.subject.cls
        if "interface_version" not in arguments:
            return cls
        claimed = arguments["interface_version"]
        return type(cls)(
            cls.__name__, (cls,), {"interface_version": property(lambda _self: claimed)}
        )

    def manager_facts(self, manager):
        """Whose the manager of a context is."""
        return {"manager_is_subject": isinstance(manager, self.subject.cls)}

    def manager(self, name):
        return self.names.get(name)

    def is_last_manager(self, manager):
        """Whether it is the one that was asked about before."""
        before, self._last_manager = self._last_manager, weakref.ref(manager)
        return before is not None and before() is manager

    def closed_contexts(self, context):
        """How many others than this one, which is open, are still there of those that were asked about before."""
        # By identity: a closed context equals the one that has its handle now.
        self._opened = [one for one in self._opened if one() is not None and one() is not context]
        closed = len(self._opened)
        self._opened.append(weakref.ref(context))
        return closed
