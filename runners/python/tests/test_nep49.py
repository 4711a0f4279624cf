"""Handlers of NumPy's data allocation as Python subjects, certified by the installed program."""

import pathlib
import subprocess
import sys

import pytest
from harness import Program

#: Handlers in Python. `_allocert` must be imported by the module that installs one.
SUBJECTS = """
import ctypes
from allocert import _allocert

behind = _allocert.RecordingHandler()
capsule = behind.capsule()

def install():
    _allocert.set_data_handler(capsule)

class Installs:
    def __enter__(self):
        self.before = _allocert.set_data_handler(capsule)
    def __exit__(self, *error):
        _allocert.set_data_handler(self.before)

manager = Installs()
number = 3

def does_nothing():
    pass

def raises():
    raise KeyError("policy")

new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
unreadable = new(4096, b"mem_handler", None)
empty_bytes = ctypes.create_string_buffer(168)
no_functions = new(ctypes.addressof(empty_bytes), b"mem_handler", None)
endless_bytes = ctypes.create_string_buffer(b"a" * 128 + bytes(40))
endless_name = new(ctypes.addressof(endless_bytes), b"mem_handler", None)
"""


@pytest.fixture
def handlers(subjects: pathlib.Path) -> pathlib.Path:
    """A folder with the module `handlers`."""
    (subjects / "handlers.py").write_text(SUBJECTS)
    return subjects


def certified(
    allocert: Program, handlers: pathlib.Path, attribute: str
) -> "subprocess.CompletedProcess[str]":
    subject = f"handlers:{attribute}"
    return allocert("run", "nep49", subject, "--python", sys.executable, path=[handlers])


@pytest.mark.parametrize("attribute", ["capsule", "install", "Installs", "manager"])
def test_each_way_to_give_a_handler_is_certified(
    allocert: Program, handlers: pathlib.Path, attribute: str
) -> None:
    run = certified(allocert, handlers, attribute)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "no violation; " in run.stdout and "not-observed" not in run.stdout


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("number", "`handlers.number` has type int: a handler is a capsule"),
        ("does_nothing", "left NumPy's handler as it was"),
        ("raises", "raised KeyError: 'policy'"),
        ("unreadable", "168 bytes from 0x1000 cannot be read"),
        ("missing", "has no attribute `missing`"),
    ],
)
def test_what_gives_no_handler_is_refused_in_one_line(
    allocert: Program, handlers: pathlib.Path, attribute: str, message: str
) -> None:
    run = certified(allocert, handlers, attribute)
    assert run.returncode == 2, run.stdout + run.stderr
    assert message in run.stderr and "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("attribute", "requirement"),
    [("no_functions", "NEP49-STRUCT-04"), ("endless_name", "NEP49-STRUCT-01")],
)
def test_a_wrong_structure_is_a_finding(
    allocert: Program, handlers: pathlib.Path, attribute: str, requirement: str
) -> None:
    run = certified(allocert, handlers, attribute)
    assert run.returncode == 1, run.stdout + run.stderr
    assert requirement in run.stdout and "Traceback" not in run.stdout


@pytest.mark.parametrize(
    ("mutant", "requirement"),
    [
        ("makes_array_in_malloc", "NEP49-EXIT-01"),
        ("raises_in_free", "NEP49-EXIT-04"),
        ("no_free", "NEP49-STRUCT-04"),
    ],
)
def test_a_handler_in_python_that_fails_under_numpy_is_a_finding(
    allocert: Program, mutant: str, requirement: str
) -> None:
    subject = f"allocert_mutants.nep49.python_handlers:{mutant}"
    some = ("--filter", "nep49/numpy/[m-o]*")
    run = allocert("run", "nep49", subject, "--python", sys.executable, *some)
    assert run.returncode == 1, run.stdout + run.stderr
    assert requirement in run.stdout and "harness-error" not in run.stdout
