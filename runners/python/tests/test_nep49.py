"""Handlers of NumPy's data allocation as Python subjects, certified by the installed program."""

import pathlib
import subprocess
import sys

import pytest
from harness import Program, Worker

#: Handlers in Python. `no_memory` answers null with an exception, as functions of Python do;
#: `lies` gives a block that is no memory, `leaks` loses every tenth block, `keeps_old` the old one
#: of each realloc() and `loses_first` the first one that a thread frees. `no_free` has no free(),
#: `never_resizes` answers null in realloc() and `runs_out` in malloc() after 21 blocks,
#: `dirty` returns no zeros from calloc(), `unended` has a name without a NUL, and behind it what is
#: not UTF-8.
#: `_allocert` must be imported by the module that installs one.
SUBJECTS = """
import ctypes
import threading
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

class RaisesAtExit(Installs):
    def __exit__(self, *error):
        super().__exit__(*error)
        raise RuntimeError("not mine")

class InstallsOnce(Installs):
    entered = False
    def __enter__(self):
        if InstallsOnce.entered:
            raise RuntimeError("installed already")
        InstallsOnce.entered = True
        super().__enter__()

def does_nothing():
    pass

def raises():
    raise KeyError("policy")

new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
named = b"mem_handler"  # a capsule keeps the pointer alone
unreadable = new(4096, named, None)
empty_bytes = ctypes.create_string_buffer(168)
no_functions = new(ctypes.addressof(empty_bytes), named, None)
endless_bytes = ctypes.create_string_buffer(b"a" * 128 + bytes(40))
endless_name = new(ctypes.addressof(endless_bytes), named, None)

def replaces():
    return _allocert.set_data_handler(endless_name)

no_memory_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
fails = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value
ctypes.c_void_p.from_buffer(no_memory_bytes, 136).value = fails
no_memory = new(ctypes.addressof(no_memory_bytes), named, None)
lies_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
lie = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(lambda *_: 4096)
ctypes.c_void_p.from_buffer(lies_bytes, 136).value = ctypes.cast(lie, ctypes.c_void_p).value
lies = new(ctypes.addressof(lies_bytes), named, None)

Free = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
leaks_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
free_all = Free(ctypes.c_void_p.from_buffer(leaks_bytes, 160).value)
frees = 0

@Free
def free_most(*arguments):
    global frees
    frees += 1
    if frees % 10:
        free_all(*arguments)

ctypes.c_void_p.from_buffer(leaks_bytes, 160).value = ctypes.cast(free_most, ctypes.c_void_p).value
leaks = new(ctypes.addressof(leaks_bytes), named, None)

loses_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
own = threading.local()

@Free
def free_later_ones(*arguments):
    if hasattr(own, "lost"):
        free_all(*arguments)
    own.lost = True

later_ones = ctypes.cast(free_later_ones, ctypes.c_void_p).value
ctypes.c_void_p.from_buffer(loses_bytes, 160).value = later_ones
loses_first = new(ctypes.addressof(loses_bytes), named, None)

Take = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
Resize = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
keeps_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
take_new = Take(ctypes.c_void_p.from_buffer(keeps_bytes, 136).value)
resize = Resize(lambda context, _old, size_bytes: take_new(context, size_bytes))
ctypes.c_void_p.from_buffer(keeps_bytes, 152).value = ctypes.cast(resize, ctypes.c_void_p).value
keeps_old = new(ctypes.addressof(keeps_bytes), named, None)

stays_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
refuse = Resize(lambda *_: None)
ctypes.c_void_p.from_buffer(stays_bytes, 152).value = ctypes.cast(refuse, ctypes.c_void_p).value
never_resizes = new(ctypes.addressof(stays_bytes), named, None)

ends_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
taken = 0

@Take
def take_first(*arguments):
    global taken
    taken += 1
    return take_new(*arguments) if taken <= 21 else None

ctypes.c_void_p.from_buffer(ends_bytes, 136).value = ctypes.cast(take_first, ctypes.c_void_p).value
runs_out = new(ctypes.addressof(ends_bytes), named, None)

TakeZeros = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
dirty_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
take = Take(ctypes.c_void_p.from_buffer(dirty_bytes, 136).value)

@TakeZeros
def take_sevens(context, nelem, elsize):
    block = take(context, nelem * elsize)
    return ctypes.memset(block, 7, nelem * elsize) if block else None

calloc = ctypes.cast(take_sevens, ctypes.c_void_p).value
ctypes.c_void_p.from_buffer(dirty_bytes, 144).value = calloc
dirty = new(ctypes.addressof(dirty_bytes), named, None)
unended_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
ctypes.memset(unended_bytes, ord("n"), 127)
ctypes.c_void_p.from_buffer(unended_bytes, 128).value = 0xFFFFFFFFFFFFFFFF
unended = new(ctypes.addressof(unended_bytes), named, None)
no_free_bytes = ctypes.create_string_buffer(ctypes.string_at(behind.address, 168), 168)
ctypes.c_void_p.from_buffer(no_free_bytes, 160).value = None
no_free = new(ctypes.addressof(no_free_bytes), named, None)
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
    [
        ("no_functions", "NEP49-STRUCT-04"),
        ("endless_name", "NEP49-STRUCT-01"),
        ("replaces", "NEP49-STRUCT-01"),
    ],
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


MALLOC = {"do": {"malloc": {"size": 64, "as": "a"}}}


@pytest.mark.usefixtures("handlers")
def test_a_function_may_answer_null_with_memory_error(worker: Worker) -> None:
    assert worker.load("handlers:no_memory", "nep49")[0] == "loaded"
    outcomes, _ = worker.run(MALLOC, side="nep49")
    assert outcomes == [{"returned": {"kind": "none", "pointer": 0, "size_bytes": 64}}]


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("churn", {"size": 64, "times": 9, "hold": 2}),
        ("np_read", {"source": "text", "dtype": "float64", "count": 3}),
        ("np_read", {"source": "text_file", "dtype": "float64", "count": 3}),
    ],
)
def test_realloc_without_the_gil_is_seen(
    worker: Worker, operation: str, arguments: dict[str, object]
) -> None:
    worker.load("allocert_mutants.nep49.python_memory:capsule", "nep49")
    outcomes, _ = worker.run({"do": {operation: arguments}}, side="nep49")
    assert outcomes[0]["raised"]["type"] == "GilNotHeld"


def test_realloc_with_the_gil_may_use_python(worker: Worker) -> None:
    worker.load("allocert_mutants.nep49.python_memory:capsule", "nep49")
    resized = {"do": {"realloc": {"block": "a", "size": 4000, "as": "b"}}}
    outcomes, _ = worker.run(MALLOC, resized, side="nep49")
    assert [list(outcome) for outcome in outcomes] == [["returned"], ["returned"]]


def test_a_block_that_cannot_be_left_makes_the_subject_unusable(
    allocert: Program, handlers: pathlib.Path
) -> None:
    run = certified(allocert, handlers, "RaisesAtExit")
    assert run.returncode == 2, run.stdout + run.stderr
    assert "the subject's __exit__ raised RuntimeError: not mine" in run.stdout
    assert "NEP49-" not in run.stdout


def test_a_handler_that_is_installed_only_once_is_not_blamed(
    allocert: Program, handlers: pathlib.Path
) -> None:
    run = certified(allocert, handlers, "InstallsOnce")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "it raised RuntimeError when it was entered again" in run.stdout


@pytest.mark.usefixtures("handlers")
def test_a_block_that_cannot_be_filled_loses_its_name(worker: Worker) -> None:
    worker.load("handlers:lies", "nep49")
    filled = {"do": {"fill": {"memory": "a", "byte": 1}}}
    outcomes, _ = worker.run(MALLOC, filled, {"do": {"read": {"memory": "a"}}}, side="nep49")
    assert outcomes[1]["raised"]["type"] == "MemoryFault"
    assert outcomes[2] == {"skipped": {"because": "a"}}


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize(
    ("operation", "arguments"), [("guessed_rounds", {"guess": 0}), ("handed_rounds", {})]
)
@pytest.mark.parametrize(("attribute", "leaks"), [("capsule", False), ("leaks", True)])
def test_a_leak_grows_in_each_quarter_of_the_rounds(
    worker: Worker, attribute: str, leaks: bool, operation: str, arguments: dict[str, int]
) -> None:
    worker.load(f"handlers:{attribute}", "nep49")
    rounds = {"do": {operation: {"size": 1048576, "times": 400, **arguments}}}
    (outcome,), _ = worker.run(rounds, side="nep49")
    facts = outcome["returned"]
    assert facts["failed"] == 0
    assert (facts["growing_bytes"] > 4194304) is leaks


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("resized_rounds", {"new_size": 2097152}),
        ("thread_rounds", {"blocks": 2}),
        ("zeroed_rounds", {}),
    ],
)
@pytest.mark.parametrize("attribute", ["capsule", "leaks", "keeps_old", "loses_first"])
def test_what_is_lost_without_them_does_not_grow_more_in_rounds(
    worker: Worker, attribute: str, operation: str, arguments: dict[str, int]
) -> None:
    worker.load(f"handlers:{attribute}", "nep49")
    rounds = {"do": {operation: {"size": 1048576, "times": 200, **arguments}}}
    (outcome,), _ = worker.run(rounds, side="nep49")
    facts = outcome["returned"]
    loses = {"resized_rounds": "keeps_old", "thread_rounds": "loses_first", "zeroed_rounds": None}
    assert facts["failed"] == 0
    assert (facts["growing_more_bytes"] > 4194304) is (loses[operation] == attribute)


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize(
    ("attribute", "failed"),
    [("capsule", (0, 0, 0)), ("never_resizes", (0, 8, 0)), ("runs_out", (0, 0, 4))],
)
def test_rounds_end_with_the_first_ones_that_fail(
    worker: Worker, attribute: str, failed: tuple[int, int, int]
) -> None:
    worker.load(f"handlers:{attribute}", "nep49")
    rounds = {
        "do": {"counted_rounds": {"size": 1 << 27, "new_size": 1 << 20, "guess": 1, "times": 8}}
    }
    (outcome,), _ = worker.run(rounds, side="nep49")
    names = ("failed_without", "failed", "failed_guessed")
    assert tuple(outcome["returned"][name] for name in names) == failed


@pytest.mark.usefixtures("handlers")
def test_a_block_that_another_thread_cannot_free_raises(worker: Worker) -> None:
    worker.load("handlers:no_free", "nep49")
    rounds = {"do": {"handed_rounds": {"size": 64, "times": 2}}}
    (outcome,), _ = worker.run(rounds, side="nep49")
    assert outcome["raised"]["type"] == "NullFunction"


@pytest.mark.parametrize(
    ("attribute", "cases", "cause"),
    [
        ("dirty", "nep49/numpy/makes/make:ones/dtype:object/*", "NEP49-CALLOC-01"),
        ("dirty", "nep49/*/at-once*", "NEP49-CALLOC-01"),
        ("dirty", "nep49/alloc/churn/*", "NEP49-CALLOC-01"),
    ],
)
def test_what_follows_from_a_violation_is_no_cause_of_its_own(
    allocert: Program, handlers: pathlib.Path, attribute: str, cases: str, cause: str
) -> None:
    run = allocert(
        "run",
        "nep49",
        f"handlers:{attribute}",
        "--python",
        sys.executable,
        "--filter",
        cases,
        path=[handlers],
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert f"the subject violates {cause}" in run.stdout.splitlines()[0]
    assert "leads to" in run.stdout
    assert "from 1 cause" in run.stdout


def test_a_name_without_an_end_is_judged_as_that_alone(
    allocert: Program, handlers: pathlib.Path
) -> None:
    some = ("--filter", "nep49/*/name")
    run = allocert(
        "run", "nep49", "handlers:unended", "--python", sys.executable, *some, path=[handlers]
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert "the subject violates NEP49-STRUCT-01" in run.stdout.splitlines()[0]
    assert "nep49/struct/name" not in run.stdout
    assert "leads to  1 more finding: NEP49-STRUCT-02" in run.stdout
