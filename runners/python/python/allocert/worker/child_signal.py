"""The signal by which the system tells of the end of a child, whatever a subject did to it."""

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def children_can_be_waited_for() -> Iterator[None]:
    """Inside its block SIGCHLD has its default action.

    The system keeps no child of a process that ignores the signal, and a handler may wait for
    every child. A handler that C code installed is unknown to Python, and does not come back.
    """
    before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGCHLD, before)
