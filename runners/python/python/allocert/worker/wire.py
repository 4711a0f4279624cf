"""The line of JSON objects between the harness and this process."""

import fcntl
import json
import resource
import socket


class Wire:
    def __init__(self, path):
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.connect(path)
        # A subject that writes to low descriptors at random must not hit the protocol.
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        high = max(3, min(limit, 1024) - 16)
        self._socket = socket.socket(fileno=fcntl.fcntl(opened.fileno(), fcntl.F_DUPFD_CLOEXEC, high))
        opened.close()
        self._lines = self._socket.makefile("rb")

    def receive(self):
        """The next message as (kind, body), or None when the harness is gone."""
        line = self._lines.readline()
        if not line:
            return None
        ((kind, body),) = json.loads(line).items()
        return kind, body

    def send(self, kind, body):
        self._socket.sendall(json.dumps({kind: body}, separators=(",", ":")).encode("ascii") + b"\n")
