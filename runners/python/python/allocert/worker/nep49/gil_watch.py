"""Counts the calls of Python's allocators by threads that do not hold the GIL."""

from collections.abc import Callable

from . import numpy_handlers


class GilNotHeld(Exception):
    """The handler called an allocator of Python without the GIL."""


class _Watch:
    def __init__(self) -> None:
        #: How many calls there were since it was called last.
        self._take_calls: Callable[[], int] = int

    def begin(self) -> None:
        """Begins to count, if the extension module is there.

        A subject may ask for the functions of an allocator while it is imported, so this comes
        before.
        """
        if not numpy_handlers.are_available():
            return
        from allocert import _allocert

        _allocert.watch_python_allocators()
        self._take_calls = _allocert.take_calls_without_gil

    def check(self) -> None:
        """Raises GilNotHeld if there were calls since the last check."""
        calls = self._take_calls()
        if calls:
            raise GilNotHeld(
                f"{calls} call{'s' if calls > 1 else ''} of Python's allocators without the GIL;"
                " NumPy calls realloc() without it while it reads text, so realloc() must take it"
                " (PyGILState_Ensure) before it uses Python, or take memory elsewhere"
            )


#: Python has its allocators once in a process.
WATCH = _Watch()
