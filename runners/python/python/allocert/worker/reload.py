"""Subjects that start threads or initialize the driver while they are imported.

A fork has only the thread that forks, and cannot use a driver that its parent initialized. So such
a subject cannot be imported before the fork. Python cannot undo an import either. The server
therefore executes its program anew, keeps the socket, and has each child import the subject.
"""

import json
import os
import sys
import threading
from typing import NamedTuple, NoReturn

from .protocol import Body

#: What a server that executes its program anew tells itself.
_RESUMES = "ALLOCERT_WORKER_RESUMES"


class Resumed(NamedTuple):
    """A server that goes on where it was."""

    #: The descriptor of the socket.
    socket: int
    #: The message that orders to load the subject.
    load: Body


class Threads(NamedTuple):
    """The threads of this process by their numbers: those of Python, and all."""

    python: frozenset[int | None]
    all: frozenset[str]

    @classmethod
    def now(cls) -> "Threads":
        """Those that there are now. `all` is empty where the system does not say."""
        python = frozenset(thread.native_id for thread in threading.enumerate())
        try:
            return cls(python, frozenset(os.listdir("/proc/self/task")))
        except OSError:
            return cls(python, frozenset())


def execute_anew(socket: int, load: Body) -> NoReturn:
    """Executes the program anew. Raises OSError."""
    os.set_inheritable(socket, True)
    os.environ[_RESUMES] = json.dumps(Resumed(socket, load))
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def resumed() -> Resumed | None:
    """What a server that was executed anew goes on with."""
    text = os.environ.pop(_RESUMES, None)
    if text is None:
        return None
    found = Resumed(*json.loads(text))
    os.set_inheritable(found.socket, False)
    return found
