"""A small harness: it starts the worker, sends it cases and collects its messages.

It judges nothing.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, TypeAlias

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORKER = ROOT / "runners/python/python/allocert/worker"

_TIMEOUT_S = 60

#: A step, an outcome or the body of a message (runners/PROTOCOL.md).
Step: TypeAlias = dict[str, Any]
Outcome: TypeAlias = dict[str, Any]
Body: TypeAlias = dict[str, Any]


class Program(Protocol):
    """Runs the installed program; see the fixture `allocert`."""

    def __call__(
        self, *arguments: object, path: Sequence[pathlib.Path] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]: ...


class Worker:
    """A started worker."""

    def __init__(
        self,
        folder: pathlib.Path,
        libraries: pathlib.Path,
        path: Sequence[pathlib.Path] = (),
        python: str = sys.executable,
    ) -> None:
        """Starts it.

        `folder` is for the socket, `libraries` holds libcuda.so.1, and `path` is where subjects
        are found.
        """
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(folder / "socket"))
        self._listener.listen(1)
        self._listener.settimeout(_TIMEOUT_S)
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
        self._socket.settimeout(_TIMEOUT_S)
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> "Worker":
        return self

    def __exit__(
        self,
        cls: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._socket.fileno() >= 0:
            self._send("quit", {})
            self._socket.close()
        self._listener.close()
        self.process.wait(10)

    def load(self, subject: str, side: str = "emm") -> tuple[str, Body]:
        """Loads a subject. Returns the answer as (kind, body)."""
        self._send("load", {"interface": side, "subject": subject})
        return self._receive()

    def run(
        self,
        *steps: Step,
        side: str = "emm",
        operations: str | None = None,
        ending: str = "leave",
        **settings: int,
    ) -> tuple[list[Outcome], Body]:
        """Performs one case, with settings of the driver. Returns its outcomes and `ended`."""
        self._start(steps, side, operations or side, ending, settings)
        outcomes = []
        while True:
            kind, body = self._receive()
            if kind == "step":
                outcomes.append(body["outcome"])
            elif kind == "ended":
                return outcomes, body

    def abandon(self, *steps: Step) -> int:
        """Starts one case and closes the socket, as a harness does that is killed.

        Returns the process id of the child that performs the case.
        """
        self._start(steps, "emm", "emm", "leave", {})
        kind, body = self._receive()
        assert kind == "child", kind
        self._lines.close()
        self._socket.close()
        pid: int = body["pid"]
        return pid

    def _start(
        self,
        steps: Sequence[Step],
        side: str,
        operations: str,
        ending: str,
        settings: dict[str, int],
    ) -> None:
        case = {
            "id": "test",
            "side": side,
            "operations": operations,
            "driver": settings,
            "ending": ending,
            "steps": [{"index": index, **step} for index, step in enumerate(steps)],
        }
        self._send("run", {"batch": 1, "cases": [case]})

    def _send(self, kind: str, body: Body) -> None:
        self._socket.sendall(json.dumps({kind: body}).encode() + b"\n")

    def _receive(self) -> tuple[str, Body]:
        line = self._lines.readline()
        if not line:
            raise ConnectionError(f"the worker ended with {self.process.wait(10)}")
        ((kind, body),) = json.loads(line).items()
        return kind, body


def facts(outcome: Outcome) -> dict[str, Any]:
    """The facts of a step that returned."""
    assert "returned" in outcome, outcome
    found: dict[str, Any] = outcome["returned"]
    return found
