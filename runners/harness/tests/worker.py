#!/usr/bin/env python3
"""A worker that behaves as badly as the attribute of its subject says. It loads no driver and runs no subject."""

import ctypes
import json
import os
import signal
import socket
import sys
import time

LEFT_BEHIND = "ALLOCERT_TEST_PID"
SETTINGS = (
    "ALLOCERT_DEVICES",
    "ALLOCERT_MEMORY_BYTES",
    "ALLOCERT_DRIVER_VERSION",
    "ALLOCERT_PEER_ACCESS",
    "ALLOCERT_FAULTS",
)
PR_SET_CHILD_SUBREAPER = 36


def main():
    misbehaviour = os.environ.get("ALLOCERT_TEST_START", "")
    if misbehaviour == "dies":
        print("no such module: pool", file=sys.stderr)
        sys.exit(7)
    if misbehaviour == "never_connects":
        time.sleep(600)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    wire.connect(sys.argv[-1])
    for line in wire.makefile("rb"):
        ((kind, body),) = json.loads(line).items()
        if kind == "load":
            scenario = load(wire, body["subject"].partition(":")[2])
        elif kind == "run":
            run(wire, scenario, body)
        else:
            break


def load(wire, scenario):
    if scenario == "refuses":
        send(wire, "refused", stage="import", message="No module named 'pool'", detail="Traceback")
    elif scenario == "hangs_loading":
        time.sleep(600)
    elif scenario == "crashes_loading":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif scenario == "other_version":
        send(wire, "loaded", flavor="python", capabilities=[], subject={}, protocol=2)
    else:
        send(wire, "loaded", flavor="python", capabilities=["python"], subject={"name": "scripted"})
    return scenario


def run(wire, scenario, body):
    if scenario == "server_dies" and "b" in body["cases"][0]["id"]:
        os.kill(os.getpid(), signal.SIGKILL)
    out, err = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.dup2(out[1], 1)
        os.dup2(err[1], 2)
        try:
            child(wire, scenario, body)
        finally:
            os._exit(99)
    os.close(out[1])
    os.close(err[1])
    texts = [os.fdopen(pipe[0], "rb").read() for pipe in (out, err)]
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    captured = [{"text": text.decode("utf-8", "replace"), "bytes": len(text)} for text in texts]
    exit_ = {"code": code} if code >= 0 else {"signal": -code}
    send(wire, "ended", batch=body["batch"], exit=exit_, stdout=captured[0], stderr=captured[1])


def child(wire, scenario, body):
    ran = []
    stranger = scenario == "announces_a_stranger"
    send(
        wire,
        "child",
        batch=body["batch"],
        pid=int(os.environ[LEFT_BEHIND]) if stranger else os.getpid(),
    )
    for case in body["cases"]:
        name = case["id"].rpartition("/")[2]
        send(wire, "case", id=case["id"])
        if scenario == "hangs_everywhere":
            open(os.path.join(os.environ["TMPDIR"], "hangs"), "w").close()
            time.sleep(600)
        if name == "b":
            misbehave(wire, scenario, body, case, ran)
        for step in case["steps"]:
            send(wire, "step", index=step["index"], outcome={"returned": {}})
        send(wire, "done", id=case["id"])
        ran.append(name)
    os._exit(0)


def misbehave(wire, scenario, body, case, ran):
    if scenario == "crashes":
        os.write(2, b"about to crash\n")
        os.kill(os.getpid(), signal.SIGSEGV)
    elif scenario == "crashes_after_a" and "a" in ran:
        os.kill(os.getpid(), signal.SIGABRT)
    elif scenario == "exits":
        os._exit(5)
    elif scenario == "hangs_once" and not os.path.exists(os.environ[LEFT_BEHIND]):
        open(os.environ[LEFT_BEHIND], "w").close()
        time.sleep(600)
    elif scenario == "works":
        while time.process_time() < 0.6:
            pass
    elif scenario == "loops":
        while True:
            pass
    elif scenario in ("hangs", "announces_a_stranger"):
        time.sleep(600)
    elif scenario == "garbage":
        wire.sendall(b"\xff\xfe{not json\n")
    elif scenario == "endless_line":
        for _ in range(20):
            wire.sendall(b"x" * 1024 * 1024)
        wire.sendall(b"\n")
    elif scenario == "dies_in_a_line":
        wire.sendall(b'{"step": {"index": 0, "outc')
        os.kill(os.getpid(), signal.SIGSEGV)
    elif scenario == "forges_done":
        send(wire, "done", id=case["id"])
        time.sleep(600)
    elif scenario == "forges_ended":
        nothing = {"text": "", "bytes": 0}
        send(wire, "ended", batch=body["batch"], exit={"code": 0}, stdout=nothing, stderr=nothing)
        time.sleep(600)
    elif scenario == "leaves_a_daemon":
        leave_a_daemon()
    elif scenario == "deletes_the_trace":
        os.unlink(os.environ["ALLOCERT_TRACE"])
    elif scenario == "settings":
        found = {name for name in SETTINGS if os.environ[name]}
        os._exit(len(found))
    elif scenario == "kills_the_server":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)


def leave_a_daemon():
    pid = os.fork()
    if pid != 0:
        return os.waitpid(pid, 0)
    os.setsid()
    pid = os.fork()
    if pid == 0:
        os.closerange(1, 256)
        time.sleep(600)
    with open(os.environ[LEFT_BEHIND], "w") as file:
        file.write(str(pid))
    os._exit(0)


def send(wire, kind, **body):
    wire.sendall(json.dumps({kind: body}).encode() + b"\n")


main()
