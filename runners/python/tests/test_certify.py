"""Whole runs of the program on Python subjects."""

import pathlib
import subprocess
import sys

import pytest
from harness import ROOT, Program
from runfile import findings, verdicts

NUMBA = "numba.cuda.cudadrv.driver:NumbaCUDAMemoryManager"
EXPECTED = ROOT / "fixtures/expectations/numba-cuda-0.30.4.yaml"


def certify(
    allocert: Program, subject: str, out: pathlib.Path, *arguments: object
) -> subprocess.CompletedProcess[str]:
    """Runs the side emm on a subject; the run must come to an end."""
    ended = allocert("run", "emm", subject, "--python", sys.executable, "--out", out, *arguments)
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    return ended


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize(
    ("manager", "isolation"),
    [("PoolManager", "case"), ("DeferredManager", "group"), ("HostOnlyManager", "none")],
)
def test_the_reference_conforms_from_python(
    allocert: Program, runs: pathlib.Path, manager: str, isolation: str
) -> None:
    out = runs / f"{manager}.jsonl"
    ended = certify(allocert, f"allocert.numba:{manager}", out, "--isolation", isolation)
    assert {case: found for case, found in findings(out).items() if found} == {}
    assert ended.returncode == 0


def test_the_reference_has_the_same_verdicts_from_python_as_natively(
    allocert: Program, runs: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    native, python = tmp_path / "native.jsonl", runs / "PoolManager.jsonl"
    assert allocert("run", "emm", "reference", "--out", native).returncode == 0
    if not python.exists():
        certify(allocert, "allocert.numba:PoolManager", python)
    left, right = verdicts(native), verdicts(python)
    both = [
        case
        for case in left
        if "not_applicable" not in (left[case], right.get(case, "not_applicable"))
    ]
    assert len(both) > 100
    assert {case: left[case] for case in both} == {case: right[case] for case in both}


def test_pythons_development_mode_changes_no_verdict(
    allocert: Program, tmp_path: pathlib.Path
) -> None:
    """It warns of what is not closed, and the worker itself leaves nothing open."""
    out = tmp_path / "run.jsonl"
    arguments = ("run", "emm", "allocert.numba:PoolManager", "--python", sys.executable)
    selected = ("--filter", "emm/exit/*", "--out", out)
    ended = allocert(*arguments, *selected, PYTHONDEVMODE="1", PYTHONWARNINGS="default")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {case: found for case, found in findings(out).items() if found} == {}


def test_a_worker_makes_no_warning_of_its_own(allocert: Program) -> None:
    """A warning is an error to some users."""
    ended = allocert(
        *("run", "nep49", "allocert.numpy:handler", "--python", sys.executable),
        *("--filter", "nep49/struct/*"),
        PYTHONWARNINGS="error",
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_numbas_own_manager_is_as_expected(allocert: Program, tmp_path: pathlib.Path) -> None:
    ended = certify(allocert, NUMBA, tmp_path / "run.jsonl", "--expect", EXPECTED)
    assert ended.returncode == 0, ended.stdout


MISBEHAVING = [
    ("Crashes", "EMM-EXIT-01"),
    ("Aborts", "EMM-EXIT-01"),
    ("ExitsWith0", "EMM-EXIT-01"),
    ("Hangs", "EMM-EXIT-02"),
    ("ForgesVerdicts", "EMM-ALLOC-02"),
    ("RaisesSystemExit", "EMM-EXIT-01"),
]


@pytest.mark.parametrize(
    ("subject", "requirement"), MISBEHAVING, ids=[name for name, _ in MISBEHAVING]
)
def test_a_misbehaving_subject_violates_at_the_step(
    allocert: Program, tmp_path: pathlib.Path, subject: str, requirement: str
) -> None:
    out = tmp_path / "run.jsonl"
    selected = ("--filter", "{emm/alloc/type/*,emm/version/one}", "--timeout", "2")
    ended = certify(allocert, f"allocert_mutants.emm.crash_hang_output:{subject}", out, *selected)
    found = findings(out)
    assert ended.returncode == 1
    assert found.pop("emm/version/one") == [], (
        "a case that does not touch the fault still runs and conforms"
    )
    assert found
    for case, ones in found.items():
        assert (requirement, 3) in [(one["requirement"], one.get("step")) for one in ones], case


BAD = [
    ("allocert_mutants.absent", "no module named `allocert_mutants.absent`"),
    ("allocert_mutants.emm.conforming_plugin:Manger", "did you mean `Manager`"),
    ("allocert_mutants.emm.conforming_plugin:OUT_OF_MEMORY", "is an instance of int, not a class"),
]


@pytest.mark.parametrize(("subject", "message"), BAD)
def test_a_subject_that_cannot_be_loaded_is_explained(
    allocert: Program, subject: str, message: str
) -> None:
    ended = allocert("run", "emm", subject, "--python", sys.executable)
    assert ended.returncode == 2 and message in ended.stderr


def test_a_missing_interpreter_is_explained(allocert: Program) -> None:
    ended = allocert(
        "run", "emm", "allocert_mutants.emm.conforming_plugin", "--python", "/nowhere/python"
    )
    assert ended.returncode in (2, 3) and "/nowhere/python" in ended.stderr
