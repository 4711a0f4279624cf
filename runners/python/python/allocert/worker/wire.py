"""The line of JSON objects between the harness and this process."""

import fcntl
import json
import resource
import secrets
import socket

#: One above the highest descriptor that the socket may hide at.
HIDDEN_BELOW = 16_384


class Wire:
    def __init__(self, path):
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.connect(path)
        # A subject that writes to low descriptors at random must not hit the protocol.
        self._socket = socket.socket(fileno=_hide(opened.fileno()))
        opened.close()
        self._lines = self._socket.makefile("rb")

    def fileno(self):
        return self._socket.fileno()

    def receive(self):
        """The next message as (kind, body), or None when the harness is gone."""
        line = self._lines.readline()
        if not line:
            return None
        ((kind, body),) = json.loads(line).items()
        return kind, body

    def send(self, kind, body):
        self._socket.sendall(
            json.dumps({kind: body}, separators=(",", ":")).encode("ascii") + b"\n"
        )


def _hide(descriptor):
    """A copy at a high descriptor that nobody can know in advance. The limit on descriptors is raised for that moment only:
    an open descriptor stays usable beyond it."""
    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    top = HIDDEN_BELOW if highest == resource.RLIM_INFINITY else min(highest, HIDDEN_BELOW)
    resource.setrlimit(resource.RLIMIT_NOFILE, (top, highest))
    try:
        # The upper half: programs take the lowest descriptors that are free.
        return fcntl.fcntl(
            descriptor, fcntl.F_DUPFD_CLOEXEC, top // 2 + secrets.randbelow(max(top // 2, 1))
        )
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, highest))
