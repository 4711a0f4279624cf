#!/usr/bin/env python3
"""A worker that misbehaves as the attribute of its subject says.

It loads no driver and runs no subject.
"""

import ctypes
import json
import os
import pathlib
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

#: The variable that names a file: the process that is left behind, or that it hung once.
LEFT_BEHIND = "ALLOCERT_TEST_PID"
SETTINGS = (
    "ALLOCERT_DEVICES",
    "ALLOCERT_MEMORY_BYTES",
    "ALLOCERT_DRIVER_VERSION",
    "ALLOCERT_PEER_ACCESS",
    "ALLOCERT_FAULTS",
)
PR_SET_CHILD_SUBREAPER = 36
#: Longer than any test waits.
FOREVER_S = 600
#: More than half of the limit of a case.
WORK_S = 0.6


def main() -> None:
    start = os.environ.get("ALLOCERT_TEST_START", "")
    if start == "dies":
        print("no such module: pool", file=sys.stderr)
        sys.exit(7)
    if start == "never_connects":
        time.sleep(FOREVER_S)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(sys.argv[-1])
    misbehaviour = ""
    for line in connection.makefile("rb"):
        ((kind, body),) = json.loads(line).items()
        if kind == "load":
            misbehaviour = body["subject"].partition(":")[2]
            load(connection, misbehaviour)
        elif kind == "run":
            run(connection, misbehaviour, body)
        else:
            break


def load(connection: socket.socket, misbehaviour: str) -> None:
    if misbehaviour == "refuses":
        message = "No module named 'pool'"
        send(connection, "refused", stage="import", message=message, detail="Traceback")
    elif misbehaviour == "hangs_loading":
        time.sleep(FOREVER_S)
    elif misbehaviour == "crashes_loading":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif misbehaviour == "other_version":
        send(connection, "loaded", flavor="python", capabilities=[], subject={}, protocol=2)
    else:
        subject = {"name": "scripted"}
        send(connection, "loaded", flavor="python", capabilities=["python"], subject=subject)


def run(connection: socket.socket, misbehaviour: str, body: dict[str, Any]) -> None:
    if misbehaviour == "server_dies" and "b" in body["cases"][0]["id"]:
        os.kill(os.getpid(), signal.SIGKILL)
    out, err = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.dup2(out[1], 1)
        os.dup2(err[1], 2)
        try:
            Child(connection, misbehaviour, body).run()
        finally:
            os._exit(99)
    os.close(out[1])
    os.close(err[1])
    texts = [os.fdopen(pipe[0], "rb").read() for pipe in (out, err)]
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    captured = [{"text": text.decode("utf-8", "replace"), "bytes": len(text)} for text in texts]
    ended = {"code": code} if code >= 0 else {"signal": -code}
    batch = body["batch"]
    send(connection, "ended", batch=batch, exit=ended, stdout=captured[0], stderr=captured[1])


class Child:
    """Performs the cases of a batch; the case whose id ends in `b` misbehaves."""

    def __init__(self, connection: socket.socket, misbehaviour: str, body: dict[str, Any]) -> None:
        self.connection, self.misbehaviour, self.body = connection, misbehaviour, body
        #: The cases that are done, by the end of their ids.
        self.done: list[str] = []

    def run(self) -> NoReturn:
        announced = os.getpid()
        if self.misbehaviour == "announces_a_stranger":
            announced = int(os.environ[LEFT_BEHIND])
        self.send("child", batch=self.body["batch"], pid=announced)
        for case in self.body["cases"]:
            name = case["id"].rpartition("/")[2]
            self.send("case", id=case["id"])
            if self.misbehaviour == "hangs_everywhere":
                pathlib.Path(os.environ["TMPDIR"], "hangs").touch()
                time.sleep(FOREVER_S)
            if name == "b":
                self.misbehave(case)
            for step in case["steps"]:
                self.send("step", index=step["index"], outcome={"returned": {}})
            self.send("done", id=case["id"])
            self.done.append(name)
        os._exit(0)

    def send(self, kind: str, **body: Any) -> None:
        send(self.connection, kind, **body)

    def misbehave(self, case: dict[str, Any]) -> None:
        actions: dict[str, Callable[[], None]] = {
            "crashes": crash,
            "crashes_after_a": self.crash_after_a,
            "exits": lambda: os._exit(5),
            "hangs": hang,
            "hangs_once": hang_once,
            "announces_a_stranger": hang,
            "works": work,
            "loops": loop,
            "garbage": lambda: self.connection.sendall(b"\xff\xfe{not json\n"),
            "endless_line": self.send_endless_line,
            "dies_in_a_line": self.die_in_a_line,
            "forges_done": lambda: self.forge_done(case),
            "forges_ended": self.forge_ended,
            "leaves_a_daemon": leave_a_daemon,
            "deletes_the_trace": lambda: os.unlink(os.environ["ALLOCERT_TRACE"]),
            "settings": lambda: os._exit(sum(bool(os.environ[name]) for name in SETTINGS)),
            "kills_the_server": kill_the_server,
        }
        if self.misbehaviour in actions:
            actions[self.misbehaviour]()

    def crash_after_a(self) -> None:
        if "a" in self.done:
            os.kill(os.getpid(), signal.SIGABRT)

    def send_endless_line(self) -> None:
        for _ in range(20):
            self.connection.sendall(b"x" * 1024 * 1024)
        self.connection.sendall(b"\n")

    def die_in_a_line(self) -> None:
        self.connection.sendall(b'{"step": {"index": 0, "outc')
        os.kill(os.getpid(), signal.SIGSEGV)

    def forge_done(self, case: dict[str, Any]) -> None:
        self.send("done", id=case["id"])
        hang()

    def forge_ended(self) -> None:
        nothing = {"text": "", "bytes": 0}
        batch = self.body["batch"]
        self.send("ended", batch=batch, exit={"code": 0}, stdout=nothing, stderr=nothing)
        hang()


def crash() -> None:
    os.write(2, b"about to crash\n")
    os.kill(os.getpid(), signal.SIGSEGV)


def hang() -> None:
    time.sleep(FOREVER_S)


def work() -> None:
    while time.process_time() < WORK_S:
        pass


def loop() -> NoReturn:
    while True:
        pass


def hang_once() -> None:
    file = pathlib.Path(os.environ[LEFT_BEHIND])
    if not file.exists():
        file.touch()
        hang()


def kill_the_server() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    hang()


def leave_a_daemon() -> None:
    """Leaves a process of another session behind, and writes its id to the file."""
    pid = os.fork()
    if pid != 0:
        os.waitpid(pid, 0)
        return
    os.setsid()
    pid = os.fork()
    if pid == 0:
        os.closerange(1, 256)
        time.sleep(FOREVER_S)
    pathlib.Path(os.environ[LEFT_BEHIND]).write_text(str(pid))
    os._exit(0)


def send(connection: socket.socket, kind: str, **body: Any) -> None:
    connection.sendall(json.dumps({kind: body}).encode() + b"\n")


main()
