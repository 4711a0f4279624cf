"""The log of the calls from the host into its plugins.

The log writes every call to the trace, which survives a crash and shows the order of plugin calls
and driver calls. It also keeps a list with the facts that do not fit into a record of the trace.
"""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ..driver import Driver
from ..operations import Facts

#: A step reports so many calls in full; the trace has all, if the host calls without end.
_REPORTED_CALLS = 256

MakeError: TypeAlias = Callable[[], Exception]


class CallLog:
    """The calls of one case into all plugins, and the errors that the plugins shall raise."""

    def __init__(self, driver: Driver) -> None:
        self._recorder = driver.recorder
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._calls: list[Facts] = []
        self._failures: dict[str, list[MakeError]] = {}
        self._managers = itertools.count(1)

    @contextlib.contextmanager
    def call(self, method: str, **facts: Any) -> Iterator[Facts]:
        """Around what the plugin does for a call. Gives the facts, to which the plugin may add.

        Raises the error that `fail` asked for.
        """
        on_main_thread = threading.current_thread() is threading.main_thread()
        number = next(self._numbers)
        facts = {"number": number, "method": method, "main_thread": on_main_thread, **facts}
        with self._recorder.call(f"plugin.{method}", facts), self._recorder.harness():
            with self._lock:
                if len(self._calls) < _REPORTED_CALLS:
                    self._calls.append(facts)
            if self._failures.get(method):
                raise self._failures[method].pop()()
            yield facts

    def next_manager(self) -> int:
        """A number for one more instance of a plugin."""
        return next(self._managers)

    def fail(self, method: str, error: MakeError, times: int) -> None:
        """Lets the next `times` calls of a method raise this error."""
        self._failures[method] = [error] * times

    def take(self) -> list[Facts]:
        """The calls since the last time."""
        with self._lock:
            taken, self._calls = self._calls, []
        return taken
