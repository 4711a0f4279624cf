"""Subjects and surroundings that nobody would choose: what the worker makes of them."""

import os
import subprocess
import sys

import pytest
from harness import WORKER
from test_worker import ALLOCATE, run

LEAVES = """
import sys
from allocert_mutants.honest import Manager

class Leaves(Manager):
    def memalloc(self, size):
        sys.exit(0)
"""
CAPABLE = """
from allocert_mutants.honest import Manager

class Odd(Manager):
    allocert_capabilities = {value}
"""


def test_an_exit_code_is_no_driver_error(worker, subjects):
    (subjects / "leaves.py").write_text(LEAVES)
    outcomes, ended = run(worker, "leaves:Leaves", ALLOCATE)
    raised = outcomes[0]["raised"]
    assert (raised["type"], raised["message"], raised["code"]) == ("SystemExit", "0", None)
    assert ended["exit"] == {"code": 0}


@pytest.mark.parametrize(("value", "what"), [("7", "int"), ("'ipc'", "str")])
def test_capabilities_that_are_no_tuple_are_refused(worker, subjects, value, what):
    (subjects / "capable.py").write_text(CAPABLE.format(value=value))
    kind, body = worker.load("capable:Odd")
    assert (kind, body["stage"]) == ("refused", "class")
    assert body["message"] == f"allocert_capabilities is no tuple of words but a {what}"


def test_a_deleted_current_directory_is_no_reason_to_fail(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && exec {sys.executable} {WORKER}"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, env=dict(os.environ))
    assert ended.stderr == "usage: allocert worker SOCKET (started by `allocert run`, not by hand)\n"
