"""The messages between the harness and this process, and the socket that carries them."""

import fcntl
import io
import json
import os
import resource
import secrets
import socket
from typing import Any, TypeAlias, TypedDict

#: The worker's copy of the socket has a file descriptor below this number.
_DESCRIPTOR_LIMIT = 16_384

#: As they are before the import of a subject, which may replace those of the modules.
_write, _encode = os.write, json.JSONEncoder(separators=(",", ":")).encode

#: What follows the kind of a message, and an OUTCOME of runners/PROTOCOL.md.
Body: TypeAlias = dict[str, Any]
Outcome: TypeAlias = dict[str, Any]


class _StepRequired(TypedDict):
    index: int
    #: One operation: its name -> its fields.
    do: dict[str, dict[str, Any]]


class StepDescription(_StepRequired, total=False):
    """One step of a case."""

    on: str
    #: `fresh`: the step runs on a new thread; `second`: on the second thread of the case.
    thread: str


class _CaseRequired(TypedDict):
    id: str
    #: The side whose operations the steps use.
    operations: str
    steps: list[StepDescription]


class CaseDescription(_CaseRequired, total=False):
    """One case: all that a worker needs to know of it."""

    side: str
    #: The settings of the software driver; a missing one has its default.
    driver: dict[str, int]
    #: `leave`, or `exit`: the process ends as a program ends.
    ending: str


class Connection:
    """The harness's socket: one JSON object a line."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        # The descriptor stays open until the process ends. Python would warn of a socket that does,
        # and the warning would count as what the subject prints.
        self._lines = io.BufferedReader(io.FileIO(descriptor, "rb", closefd=False))

    @classmethod
    def to(cls, path: str) -> "Connection":
        """Connects to the socket at `path`."""
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.connect(path)
        # A subject that writes to low descriptors at random must not hit the protocol.
        connection = cls(_copy_to_high_descriptor(opened.fileno()))
        opened.close()
        return connection

    def fileno(self) -> int:
        """The descriptor, for `select.poll`."""
        return self._descriptor

    def receive(self) -> tuple[str, Body] | None:
        """The next message as (kind, body), or None if the harness closed the socket."""
        line = self._lines.readline()
        if not line:
            return None
        ((kind, body),) = json.loads(line).items()
        return kind, body

    def send(self, kind: str, body: Body) -> None:
        """Sends one message. Raises ConnectionError if the harness is gone."""
        line = _encode({kind: body}).encode("ascii") + b"\n"
        while line:
            line = line[_write(self._descriptor, line) :]


def _copy_to_high_descriptor(descriptor: int) -> int:
    """A copy at a high descriptor that nobody can know in advance.

    It raises the limit on descriptors for that moment only; an open descriptor stays usable above
    the limit.
    """
    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = highest == resource.RLIM_INFINITY
    top = _DESCRIPTOR_LIMIT if unlimited else min(highest, _DESCRIPTOR_LIMIT)
    resource.setrlimit(resource.RLIMIT_NOFILE, (top, highest))
    try:
        # The upper half: programs take the lowest descriptors that are free.
        least = top // 2 + secrets.randbelow(max(top // 2, 1))
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, least)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, highest))
