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


def test_what_the_host_hands_over_is_recorded(allocert: Program, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "run.jsonl"
    certify(allocert, "numba.cuda", out, "--filter", "emm-host/alloc/device-array/size:255")
    (seen,) = lines(out, "observation")
    calls = [call for step in seen["steps"] for call in step.get("plugin_calls", [])]
    asked = {call["method"]: call for call in calls}
    assert [call["number"] for call in calls] == list(range(1, len(calls) + 1))
    assert list(asked) == [
        "create",
        "interface_version",
        "initialize",
        "memalloc",
        "finalize",
        "reset",
    ]
    assert (
        asked["memalloc"]["size_bytes"] == 255 and asked["memalloc"]["own_context_current"] is True
    )
    assert (
        asked["finalize"]["of"] == asked["memalloc"]["number"] and asked["finalize"]["times"] == 1
    )


BAD = [
    ("json", "`json` is no host of EMM plugins: it lacks set_memory_manager, current_context"),
    ("allocert_mutants.emm_host:absent", "has no attribute `absent`"),
    ("./libhost.so", "is no subject of emm-host, which is certified in Python"),
]


@pytest.mark.parametrize(("subject", "message"), BAD, ids=[subject for subject, _ in BAD])
def test_what_is_no_host_is_explained(allocert: Program, subject: str, message: str) -> None:
    ended = allocert("run", "emm-host", subject, "--python", sys.executable)
    assert ended.returncode == 2 and message in ended.stderr, ended.stderr
