"""The process that loads the subject once and forks a child for each batch."""

import contextlib
import ctypes
import gc
import importlib.metadata
import os
import platform
import select
import signal
import sys
import traceback
import warnings
from collections.abc import Mapping
from typing import NamedTuple

from . import registry, reload
from .batch import Batch
from .child_signal import children_can_be_waited_for
from .driver import Driver
from .interface import Interface, Subject
from .output_capture import OutputCapture
from .protocol import Body, Connection
from .refused import Refused
from .safe_text import bounded, type_name

#: The end that is read, and the end that is written.
Pipe = tuple[int, int]

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
#: Set by the harness where a person debugs the worker.
_DEBUG = "ALLOCERT_DEBUG"


def serve(path: str) -> Batch | None:
    """Serves the harness that listens at `path`.

    Returns None when the harness ends the service, and in each forked child the batch that it must
    perform.
    """
    _adopt_orphans()
    again = reload.resumed()
    try:
        connection = Connection.to(path) if again is None else Connection(again.socket)
    except OSError as error:
        raise SystemExit(
            f"allocert worker: {path} cannot be connected to: {error}; the harness starts each"
            " worker once, and only a subject starts it again"
        ) from None
    server = _Server(connection, None if again is None else again.load)
    try:
        return server.serve()
    except ConnectionError:
        return None  # the harness ended while the server was sending


def _adopt_orphans() -> None:
    """Makes this process the parent of what a batch leaves behind, so the harness finds it."""
    # On a system without it, processes that a batch leaves behind keep running.
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_with_parent(number: int = signal.SIGKILL) -> None:
    """Ends this process with its parent. With 0 it goes on after its parent again.

    A subject that ends its parent by signal would otherwise get the next process up as its parent:
    for a child of the server that is the harness.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


class _Side(NamedTuple):
    """What the cases of a side need beside the subject."""

    driver: Driver
    interface: Interface
    #: Of Python and the interface's distributions, by name.
    versions: dict[str, str]


class _Loaded(NamedTuple):
    """What every batch needs once the subject is there."""

    driver: Driver
    interface: Interface
    versions: dict[str, str]
    subject: Subject
    #: What it did while it was imported, so that each child must import it: `threads` or `driver`.
    belongs_in_child: str | None


class _Server:
    def __init__(self, connection: Connection, loaded_in_child: Body | None) -> None:
        self._connection = connection
        self._loaded: _Loaded | None = None
        #: Orders each child to load the subject, which cannot be loaded before a fork.
        self._loaded_in_child = loaded_in_child
        #: What the subject needs around it, which is loaded before the fork.
        self._side: _Side | None = None

    def serve(self) -> Batch | None:
        while (message := self._connection.receive()) is not None:
            kind, body = message
            if kind == "load":
                self._load(body)
            elif kind == "run":
                batch = self._run(body)
                if batch is not None:
                    return batch
            elif kind == "quit":
                break
        return None

    def _load(self, body: Body) -> None:
        self._loaded_in_child = None
        # While the subject is imported nobody reads the socket, which tells that the harness ended.
        # Later that would be wrong: the system asks for the thread of the parent, and the harness's
        # other threads use this process too.
        _end_with_parent()
        try:
            loaded = _load_subject(_prepare_side(body["interface"]), body["subject"])
        except Refused as refused:
            self._connection.send("refused", refused.body)
            return
        finally:
            _end_with_parent(0)
        self._loaded = loaded
        subject = loaded.subject
        described = {
            "name": subject.name,
            "version": subject.version,
            "file": subject.file,
            "interface_version": None,
            "host": loaded.versions,
        }
        self._connection.send(
            "loaded",
            {
                "flavor": "python",
                "capabilities": subject.capabilities,
                "subject": described,
                "loaded_again": loaded.belongs_in_child,
            },
        )
        if loaded.belongs_in_child and _DEBUG not in os.environ:
            reload.execute_anew(self._connection.fileno(), body)

    def _run(self, body: Body) -> Batch | None:
        """Forks for a batch. Returns it in the child, and None in the server after its end.

        Where a person debugs the worker, there is no fork: the server itself performs the batch.
        """
        if self._loaded is None and self._loaded_in_child is None:
            raise RuntimeError("the harness asked for a run before it loaded a subject")
        if _DEBUG in os.environ:
            return self._begin(body, self._loaded_for(body))
        if self._loaded_in_child is not None and self._side is None:
            self._side = _prepare_side(self._loaded_in_child["interface"])
        with children_can_be_waited_for():
            return self._fork(body)

    def _fork(self, body: Body) -> Batch | None:
        out, err = os.pipe(), os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            # Python warns of threads at a fork; those are of a BLAS and hold no lock of ours.
            warnings.simplefilter("ignore")
            pid = os.fork()
        if pid == 0:
            _end_with_parent()
            return self._begin_in_child(body, (out, err))
        os.close(out[1])
        os.close(err[1])
        captures = [OutputCapture(out[0]), OutputCapture(err[0])]
        ended = _wait(pid, captures, self._connection)
        stdout, stderr = (capture.close() for capture in captures)
        self._connection.send(
            "ended", {"batch": body["batch"], "exit": ended, "stdout": stdout, "stderr": stderr}
        )
        return None

    def _begin_in_child(self, body: Body, pipes: tuple[Pipe, Pipe]) -> Batch:
        """Begins the batch. What keeps the child from it goes to the harness with its end."""
        try:
            loaded = self._loaded_for(body)
        except Refused as refused:
            raise SystemExit(str(refused) + "\n" + refused.body["detail"]) from None
        finally:
            # What the subject printed while it was imported belongs to no case. An error that
            # Python prints at the end of this process does.
            _become_child(*pipes)
        return self._begin(body, loaded)

    def _loaded_for(self, body: Body) -> _Loaded:
        """The subject, on the driver of the batch. A child may have to load it. Raises Refused."""
        loaded, settings = self._loaded, body["cases"][0].get("driver") or {}
        if loaded is None:
            order = self._loaded_in_child or {}
            side = self._side or _prepare_side(order["interface"])
            loaded = _load_subject(side, order["subject"], settings)
        else:
            loaded.driver.restart(settings)
            if loaded.subject.initialized_driver:
                # A person debugs: the import did this here, and what it made depends on it.
                loaded.driver.initialize()
        return loaded

    def _begin(self, body: Body, loaded: _Loaded) -> Batch:
        """Tells the harness which process performs the batch: this one."""
        self._connection.send("child", {"batch": body["batch"], "pid": os.getpid()})
        return Batch(
            body["cases"],
            loaded.interface,
            loaded.subject,
            loaded.driver,
            self._connection,
            begun=self._loaded is None,
        )


def _prepare_side(side: str) -> _Side:
    """Loads the driver, and then all of the worker that the side needs.

    The driver comes first, so that every later lookup of its name finds it. No call may reach it
    here: it reads its settings at the first one.

    Raises Refused.
    """
    try:
        driver = Driver()
    except OSError as error:
        raise Refused("host", f"libcuda.so.1 cannot be loaded: {error}") from None
    interface = registry.load(side)
    prepared = _Side(driver, interface, _versions(interface.distributions))
    # These objects live as long as the process, so garbage collections need not visit them. Those
    # of the subject are not among them: Python frees at its end only what its collector sees.
    gc.collect()
    gc.freeze()
    return prepared


def _load_subject(
    side: _Side, specification: str, settings: Mapping[str, int] | None = None
) -> _Loaded:
    """Loads the subject, after the worker, so that nothing is missed that it changes or deletes.

    `settings` are those of the case that begins with the import of the subject, in a child.
    Without them no call may reach the driver here either.

    Raises Refused.
    """
    driver, interface, versions = side
    if settings is not None:
        driver.restart(settings)
        # The driver calls of the import are the case's.
        driver.recorder.case_begin()
    before = reload.Threads.now()
    subject = _found(interface, specification, driver)
    after = reload.Threads.now()
    # No number of threads tells: NumPy's BLAS ends its own at a fork, which a subject may make.
    started = bool(after.python - before.python)
    if interface.counts_native_threads:
        started = started or bool(after.all - before.all)
    belongs_in_child = "threads" if started else "driver" if subject.initialized_driver else None
    return _Loaded(driver, interface, versions, subject, belongs_in_child)


def _found(interface: Interface, specification: str, driver: Driver) -> Subject:
    """The subject. Raises Refused, also where its import broke what the worker uses."""
    server = os.getpid()
    try:
        return interface.subject(specification, driver)
    except Refused:
        raise
    except BaseException as error:  # noqa: BLE001 - SystemExit too, of what the subject changed
        place = traceback.extract_tb(error.__traceback__)[-1]
        file = os.path.basename(place.filename)
        raise Refused(
            "import",
            f"after the import the worker raised {type_name(error)} ({file}, line {place.lineno}):"
            f" {bounded(error, 500)}; a subject that changes modules of Python brings that about",
        ) from None
    finally:
        if os.getpid() != server:
            # A child that the module forked while it was imported; the server goes on by itself.
            os._exit(0)


def _versions(distributions: tuple[str, ...]) -> dict[str, str]:
    versions = {"python": platform.python_version(), "executable": sys.executable}
    for name in distributions:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name.replace("-", "_")] = importlib.metadata.version(name)
    return versions


def _become_child(out: Pipe, err: Pipe) -> None:
    """Gives the forked process its own group and standard streams."""
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (out[1], 1), (err[1], 2)):
        os.dup2(source, target)
    for descriptor in (nothing, *out, *err):
        if descriptor > 2:
            os.close(descriptor)


def _wait(pid: int, captures: list[OutputCapture], connection: Connection) -> dict[str, int]:
    """Drains the captures until the child or the harness is gone, then ends the child's group.

    Returns how the child ended, as `ended` carries it.
    """
    child, poll = os.pidfd_open(pid), select.poll()
    poll.register(child, select.POLLIN)
    # No event is asked for: poll reports that the harness closed the socket in any case.
    poll.register(connection, 0)
    for capture in captures:
        poll.register(capture.descriptor, select.POLLIN)
    open_captures = {capture.descriptor: capture for capture in captures}
    running = True
    while running:
        for descriptor, _ in poll.poll():
            if descriptor not in open_captures:
                running = False
            elif not open_captures[descriptor].drain():
                poll.unregister(descriptor)
    os.close(child)
    # Nobody has waited for the child yet, so its group id cannot belong to another process.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    for capture in captures:
        capture.drain()
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status)}
    return {"code": os.WEXITSTATUS(status)}
