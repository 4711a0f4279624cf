"""What the host asked of its plugins: every call stands in the trace between two marks, and what it was made with in a list.

The marks outlive a crash and order the calls among the driver's; the list says what no mark has room for.
"""

import contextlib
import itertools
import threading

#: The methods of the protocol, by the number that their marks carry.
METHODS = (
    "create",
    "interface_version",
    "initialize",
    "memalloc",
    "memhostalloc",
    "mempin",
    "get_memory_info",
    "get_ipc_handle",
    "reset",
    "defer_cleanup",
    "defer_enter",
    "defer_exit",
    "finalize",
)
CODES = {name: code for code, name in enumerate(METHODS, 1)}
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
        with self._driver.harness(number, CODES[method]):
            facts = {"number": number, "method": method, "main_thread": _on_main_thread(), **facts}
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
