"""A harness of a few lines: starts the worker, sends it cases, collects what it says. It judges nothing."""

import json
import os
import pathlib
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORKER = ROOT / "runners/python/python/allocert/worker"


class Worker:
    def __init__(self, folder, libraries, path=(), python=sys.executable):
        """`libraries` holds libcuda.so.1; `path` is where subjects are found; `folder` is for the socket."""
        folder = pathlib.Path(folder)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(folder / "socket"))
        self._listener.listen(1)
        self._listener.settimeout(60)
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, path)))
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(
            [str(libraries), environment.get("LD_LIBRARY_PATH", "")]
        )
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        self.process = subprocess.Popen(
            [python, str(WORKER), str(folder / "socket")],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
        )
        self._socket, _ = self._listener.accept()
        self._socket.settimeout(60)
        self._lines = self._socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        if self._socket.fileno() >= 0:
            self._send("quit", {})
            self._socket.close()
        self._listener.close()
        self.process.wait(10)

    def load(self, subject, side="emm"):
        """The answer as (kind, body)."""
        self._send("load", {"interface": side, "subject": subject})
        return self._receive()

    def run(self, *steps, side="emm", operations=None, ending="leave", **settings):
        """Performs one case. Returns its outcomes and the `ended` body."""
        numbered = [{"index": index, **step} for index, step in enumerate(steps)]
        case = {
            "id": "test",
            "side": side,
            "operations": operations or side,
            "driver": settings,
            "ending": ending,
            "steps": numbered,
        }
        self._send("run", {"batch": 1, "cases": [case]})
        outcomes = []
        while True:
            kind, body = self._receive()
            if kind == "step":
                outcomes.append(body["outcome"])
            elif kind == "ended":
                return outcomes, body

    def abandon(self, *steps):
        """Begins one case and goes away, as a harness does that is killed. The process id of the child that performs it."""
        numbered = [{"index": index, **step} for index, step in enumerate(steps)]
        case = {
            "id": "test",
            "side": "emm",
            "operations": "emm",
            "driver": {},
            "ending": "leave",
            "steps": numbered,
        }
        self._send("run", {"batch": 1, "cases": [case]})
        kind, body = self._receive()
        assert kind == "child", kind
        self._lines.close()
        self._socket.close()
        return body["pid"]

    def _send(self, kind, body):
        self._socket.sendall(json.dumps({kind: body}).encode() + b"\n")

    def _receive(self):
        line = self._lines.readline()
        if not line:
            raise ConnectionError(f"the worker went away with {self.process.wait(10)}")
        ((kind, body),) = json.loads(line).items()
        return kind, body
