"""Whole runs of the side nep49-host: NumPy as it is, and with its set-up of handlers repaired."""

import pathlib
import subprocess
import sys

import numpy
from harness import ROOT, Program
from runfile import findings

EXPECTED = ROOT / "fixtures/expectations/numpy-2.4.6-nep49-host.yaml"
#: What no wrapper of NumPy can repair.
UNREPAIRED = {
    "NEP49-FREE-54",
    "NEP49-FREE-55",
    "NEP49-MEMORY-52",
    "NEP49-MEMORY-53",
    "NEP49-TRACE-52",
}


def certify(
    allocert: Program, host: str, out: pathlib.Path, *arguments: object
) -> subprocess.CompletedProcess[str]:
    return allocert("run", "nep49-host", host, "--python", sys.executable, "--out", out, *arguments)


def test_the_expectations_say_which_version_they_are_of() -> None:
    assert f"numpy {numpy.__version__}," in EXPECTED.read_text()


def test_numpy_is_as_expected(allocert: Program, tmp_path: pathlib.Path) -> None:
    ended = certify(allocert, "numpy", tmp_path / "run.jsonl", "--expect", EXPECTED)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_repaired_numpy_violates_only_what_stays(
    allocert: Program, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "run.jsonl"
    ended = certify(allocert, "allocert_mutants.nep49_host:repaired", out)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {one["requirement"] for found in findings(out).values() for one in found} == UNREPAIRED
