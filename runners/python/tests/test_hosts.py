"""Whole runs on hosts of plugins: numba-cuda as it is, and with what it is known for repaired."""

import pathlib
import subprocess
import sys

import pytest
from harness import ROOT, Program
from runfile import findings, lines

EXPECTED = ROOT / "fixtures/expectations/numba-cuda-0.30.4-host.yaml"
PROFILES = ("nbep7", "numba-docs", "numba-cuda-0.30")


def certify(
    allocert: Program, host: str, out: pathlib.Path, *arguments: object
) -> subprocess.CompletedProcess[str]:
    """Runs the side emm-host on a host; the run must come to an end."""
    ended = allocert("run", "emm-host", host, "--python", sys.executable, "--out", out, *arguments)
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    return ended


@pytest.mark.parametrize("profile", PROFILES)
def test_numba_is_as_expected(allocert: Program, tmp_path: pathlib.Path, profile: str) -> None:
    ended = certify(
        allocert, "numba.cuda", tmp_path / "run.jsonl", "--expect", EXPECTED, "--profile", profile
    )
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("profile", PROFILES)
def test_a_repaired_numba_conforms(allocert: Program, tmp_path: pathlib.Path, profile: str) -> None:
    out = tmp_path / "run.jsonl"
    ended = certify(allocert, "allocert_mutants.emm_host:repaired", out, "--profile", profile)
    assert {case: found for case, found in findings(out).items() if found} == {}
    assert ended.returncode == 0, ended.stdout


def test_the_arguments_of_each_plugin_call_are_recorded(
    allocert: Program, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "run.jsonl"
    certify(allocert, "numba.cuda", out, "--filter", "emm-host/alloc/device-array/size:255")
    (observation,) = lines(out, "observation")
    calls = [call for step in observation["steps"] for call in step.get("plugin_calls", [])]
    last = {call["method"]: call for call in calls}
    assert [call["number"] for call in calls] == list(range(1, len(calls) + 1))
    assert list(last) == [
        "create",
        "interface_version",
        "initialize",
        "memalloc",
        "finalize",
        "reset",
    ]
    assert last["memalloc"]["size_bytes"] == 255 and last["memalloc"]["own_context_current"] is True
    assert last["finalize"]["of"] == last["memalloc"]["number"] and last["finalize"]["times"] == 1


BAD = [
    ("json", "`json` is not a host of EMM plugins: it lacks set_memory_manager, current_context"),
    ("allocert_mutants.emm_host:absent", "has no attribute `absent`"),
    ("./libhost.so", "is no subject of emm-host, which is certified in Python"),
]


@pytest.mark.parametrize(("subject", "message"), BAD, ids=[subject for subject, _ in BAD])
def test_a_subject_that_is_not_a_host_is_explained(
    allocert: Program, subject: str, message: str
) -> None:
    ended = allocert("run", "emm-host", subject, "--python", sys.executable)
    assert ended.returncode == 2 and message in ended.stderr, ended.stderr
