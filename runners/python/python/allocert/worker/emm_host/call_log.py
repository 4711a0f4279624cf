"""What the host asked of its plugins: every call is in the trace, and in a list with all it was given.

The trace outlives a crash and orders these calls among those of the driver. The list has what a
record of the trace has no room for.
"""

import contextlib
import itertools
import threading

#: Of so many calls a step tells what they were made with; a host that calls without end is seen in the trace.
KEPT = 256


class Journal:
    def __init__(self, driver):
        self._driver = driver
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._calls = []
        self._failures = {}
        self._managers = itertools.count(1)

    @contextlib.contextmanager
    def call(self, method, **facts):
        """Around what the plugin does for a call. Gives the facts, to which the plugin may add."""
        number = next(self._numbers)
        facts = {"number": number, "method": method, "main_thread": _on_main_thread(), **facts}
        recorder = self._driver.recorder
        with recorder.call(f"plugin.{method}", facts), recorder.harness():
            with self._lock:
                if len(self._calls) < KEPT:
                    self._calls.append(facts)
            self._fail(method)
            yield facts

    def manager(self):
        """A number for one more instance of a plugin."""
        return next(self._managers)

    def fail(self, method, error, times):
        """The next `times` calls of a method raise this."""
        self._failures[method] = [error] * times

    def take(self):
        """The calls since the last time."""
        with self._lock:
            taken, self._calls = self._calls, []
        return taken

    def _fail(self, method):
        if self._failures.get(method):
            raise self._failures[method].pop()()


def _on_main_thread():
    return threading.current_thread() is threading.main_thread()
