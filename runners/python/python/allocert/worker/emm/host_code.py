"""Marks in the trace which memory the host's base class takes for a plugin.

A plugin may inherit its methods, or call them from methods of its own; what the class then forgets
is the fault of the host.
"""

import functools
from collections.abc import Callable
from typing import Any

from numba.cuda.cudadrv.driver import HostOnlyCUDAMemoryManager

from ..recorder import Recorder

#: The methods that take memory from the driver.
_METHODS = ("memhostalloc", "mempin", "memallocmanaged")


class HostCodeMarks:
    """The marks around those methods."""

    def __init__(self) -> None:
        #: Where they are written; nowhere before the first case.
        self.recorder: Recorder | None = None
        self._are_set = False

    def set(self) -> None:
        """Replaces the methods. The subject is not imported yet: it may copy them."""
        if not self._are_set:
            self._are_set = True
            for name in _METHODS:
                method = getattr(HostOnlyCUDAMemoryManager, name)
                setattr(HostOnlyCUDAMemoryManager, name, self._marked(method))

    def _marked(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def marked(*args: Any, **kwargs: Any) -> Any:
            if self.recorder is None:
                return method(*args, **kwargs)
            with self.recorder.host_code():
                return method(*args, **kwargs)

        return marked


HOST_CODE_MARKS = HostCodeMarks()
