"""What the worker reports when a subject or the environment works against it.

test_zoo.py runs the program on hostile subjects.
"""

import os
import pathlib
import subprocess
import sys

import pytest
from harness import WORKER, Worker
from test_worker import ALLOCATE, SETUP, run

EXITS = """
import sys
from allocert_mutants.emm.conforming_plugin import Manager

class Exits(Manager):
    def memalloc(self, size):
        sys.exit(0)
"""
CAPABLE = """
from allocert_mutants.emm.conforming_plugin import Manager

class Odd(Manager):
    allocert_capabilities = {value}
"""
UNREADABLE = """
from allocert_mutants.emm.conforming_plugin import Manager

class Meta(type):
    def __getattribute__(cls, name):
        raise RuntimeError(f"no attribute {name}")

class Unreadable(Exception, metaclass=Meta):
    @property
    def __traceback__(self):
        raise RuntimeError("no traceback")

    __cause__ = __context__ = __traceback__

class Odd(Manager):
    def memalloc(self, size):
        raise Unreadable()
"""
HANGS = """
import time
from allocert_mutants.emm.conforming_plugin import Manager

class Hangs(Manager):
    def memalloc(self, size):
        while True:
            time.sleep(60)
"""


def test_an_exit_code_is_no_driver_error(worker: Worker, subjects: pathlib.Path) -> None:
    (subjects / "exits.py").write_text(EXITS)
    outcomes, ended = run(worker, "exits:Exits", ALLOCATE)
    raised = outcomes[0]["raised"]
    assert (raised["type"], raised["message"], raised["code"]) == ("SystemExit", "0", None)
    assert ended["exit"] == {"code": 0}


def test_an_exception_whose_attributes_raise_is_described(
    worker: Worker, subjects: pathlib.Path
) -> None:
    (subjects / "unreadable.py").write_text(UNREADABLE)
    outcomes, ended = run(worker, "unreadable:Odd", ALLOCATE)
    raised = outcomes[0]["raised"]
    assert (raised["type"], raised["bases"]) == (
        "Unreadable",
        ["Unreadable", "Exception", "BaseException"],
    )
    assert ended["exit"] == {"code": 0} and ended["stderr"]["bytes"] == 0


def test_a_worker_without_a_harness_ends_its_case_and_itself(
    worker: Worker, subjects: pathlib.Path
) -> None:
    (subjects / "hangs.py").write_text(HANGS)
    worker.load("hangs:Hangs")
    child = worker.abandon(*SETUP, ALLOCATE)
    assert worker.process.wait(20) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.parametrize(("value", "what"), [("7", "int"), ("'ipc'", "str")])
def test_capabilities_that_are_no_tuple_are_refused(
    worker: Worker, subjects: pathlib.Path, value: str, what: str
) -> None:
    (subjects / "capable.py").write_text(CAPABLE.format(value=value))
    kind, body = worker.load("capable:Odd")
    assert (kind, body["stage"]) == ("refused", "class")
    assert body["message"] == f"allocert_capabilities must be a tuple of words, but has type {what}"


def test_another_python_is_told_which_one_it_needs() -> None:
    program = WORKER / "__main__.py"
    source = f"import runpy, sys; sys.version_info = (3, 9, 1); runpy.run_path({str(program)!r})"
    command = [sys.executable, "-c", source]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == "this is Python 3.9; the worker needs Python 3.10 or later\n"


def test_the_worker_starts_in_a_deleted_directory(tmp_path: pathlib.Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && exec {sys.executable} {WORKER}"
    ended = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert (
        ended.stderr == "usage: allocert worker SOCKET (started by `allocert run`, not by hand)\n"
    )
