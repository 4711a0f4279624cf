"""The process that loads the subject once and forks a child for each batch."""

import ctypes
import gc
import importlib
import importlib.metadata
import os
import platform
import select
import signal
import sys
import warnings

from .capture import Capture
from .wire import Wire

#: How long the child's last words may take to arrive after its end.
_POLL_S = 0.05
_PR_SET_CHILD_SUBREAPER = 36
#: Side to the package that performs its cases.
INTERFACES = {
    "emm": "emm",
    "emm-host": "emm",
    "cai-producer": "cai",
    "cai-consumer": "cai",
    "cai-pair": "cai",
}


def serve(path):
    """Serves until the harness says quit (None), or returns in a forked child with the batch that it must perform."""
    _adopt_orphans()
    server = Server(Wire(path))
    try:
        return _serve(server)
    except ConnectionError:
        return None  # the harness went away while it was told something


def _serve(server):
    while (message := server.wire.receive()) is not None:
        kind, body = message
        if kind == "load":
            server.load(body)
        elif kind == "run":
            batch = server.run(body)
            if batch is not None:
                return batch
        elif kind == "quit":
            break
    return None


def _adopt_orphans():
    """Whatever a batch leaves behind comes to this process, where the harness finds and ends it."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (AttributeError, OSError):
        pass  # not on this system; then it lives on


class Server:
    def __init__(self, wire):
        self.wire = wire
        self._driver = self._subject_class = self._subject = self._stage = None

    def load(self, body):
        from .subject import Refused

        try:
            host = self._prepare(body["interface"])
            self._subject = subject = self._subject_class(body["subject"], self._driver)
        except Refused as refused:
            return self.wire.send("refused", refused.body)
        described = {"name": subject.name, "version": subject.version, "file": subject.file}
        described.update(interface_version=None, host=host)
        # What exists now lives as long as the process; a child's garbage collection need not look
        # at it again.
        gc.collect()
        gc.freeze()
        self.wire.send(
            "loaded",
            {"flavor": "python", "capabilities": subject.capabilities, "subject": described},
        )

    def _prepare(self, side):
        """Loads the driver first, so that its name is taken, then all that the side needs. Returns the versions.

        All of the worker is imported before the subject: what a subject changes or deletes later cannot be missed. No call
        may reach the driver here: it reads its settings at the first one, and those are a case's to choose.
        """
        from .driver import Driver
        from .subject import Refused

        if side not in INTERFACES:
            raise Refused(
                "host", f"the Python worker runs subjects of {', '.join(INTERFACES)}, not of {side}"
            )
        interface = importlib.import_module(f".{INTERFACES[side]}", __package__)
        try:
            self._driver = Driver()
        except OSError as error:
            raise Refused("host", f"libcuda.so.1 cannot be loaded: {error}") from None
        self._subject_class, self._stage = interface.prepare(side)
        return _versions(interface.DISTRIBUTIONS)

    def run(self, body):
        """Forks for a batch. Returns it in the child, None in the server once the child is gone."""
        out, err = os.pipe(), os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # threads of a BLAS at fork; they hold nothing of ours
            pid = os.fork()
        if pid == 0:
            _become_child(out, err)
            self.wire.send("child", {"batch": body["batch"], "pid": os.getpid()})
            from .batch import Batch

            return Batch(body["cases"], self._stage, self._subject, self._driver, self.wire)
        os.close(out[1])
        os.close(err[1])
        captures = [Capture(out[0]), Capture(err[0])]
        ended = _wait(pid, captures, self.wire)
        stdout, stderr = (capture.close() for capture in captures)
        self.wire.send(
            "ended", {"batch": body["batch"], "exit": ended, "stdout": stdout, "stderr": stderr}
        )
        return None


def _versions(distributions):
    versions = {"python": platform.python_version(), "executable": sys.executable}
    for name in distributions:
        try:
            versions[name.replace("-", "_")] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _become_child(out, err):
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (out[1], 1), (err[1], 2)):
        os.dup2(source, target)
    for descriptor in (nothing, *out, *err):
        if descriptor > 2:
            os.close(descriptor)


def _wait(pid, captures, wire):
    """Drains the captures until the child or the harness is gone, ends what is left of its group, and says how it ended."""
    life, watched = os.pidfd_open(pid), select.poll()
    watched.register(life, select.POLLIN)
    # Nothing asked for: only that the harness hung up.
    watched.register(wire, 0)
    for capture in captures:
        watched.register(capture.descriptor, select.POLLIN)
    open_captures = {capture.descriptor: capture for capture in captures}
    running = True
    while running:
        for descriptor, _ in watched.poll():
            if descriptor not in open_captures:
                running = False
            elif not open_captures[descriptor].drain():
                watched.unregister(descriptor)
    os.close(life)
    # Nobody has waited for the child, so its group id cannot have passed to anybody else.
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    _, status = os.waitpid(pid, 0)
    for capture in captures:
        capture.drain()
    return (
        {"signal": os.WTERMSIG(status)}
        if os.WIFSIGNALED(status)
        else {"code": os.WEXITSTATUS(status)}
    )
