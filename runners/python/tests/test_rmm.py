"""RMM's plugin for Numba on the software driver, by its stand-in (standin/README.md)."""

import base64
import hashlib
import importlib.metadata
import pathlib
import re
import sys

import pytest
from harness import ROOT, Program
from runfile import findings

STANDIN = ROOT / "runners/python/tests/standin"
EXPECTED = ROOT / "fixtures/expectations/rmm-26.10.yaml"
PLUGIN = "rmm/allocators/numba.py"


@pytest.fixture(scope="module")
def wheel() -> importlib.metadata.Distribution:
    """The installed distribution of RMM."""
    try:
        return importlib.metadata.distribution("rmm-cu13")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("rmm-cu13 is not installed; its wheels are for Python 3.11 and later")


def test_the_plugin_is_unchanged_in_the_wheel(wheel: importlib.metadata.Distribution) -> None:
    (recorded,) = [file for file in wheel.files or () if str(file) == PLUGIN]
    assert recorded.hash is not None
    digest = hashlib.new(recorded.hash.mode, recorded.read_binary()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == recorded.hash.value


def test_rmms_plugin_is_as_expected(
    wheel: importlib.metadata.Distribution, allocert: Program, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "run.jsonl"
    arguments = ("rmm_standin", "--python", sys.executable, "--out", out, "--expect", EXPECTED)
    ended = allocert("run", "emm", *arguments, path=[STANDIN])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # A run that checks little is as expected too, so the known violations must be there.
    found = findings(out)
    assert len(found) > 300
    assert {one["requirement"] for ones in found.values() for one in ones} >= {
        "EMM-FINAL-09",
        "EMM-IPC-11",
        "EMM-ZERO-02",
    }


@pytest.mark.parametrize(
    ("subject", "causes"),
    [
        ("rmm_standin", ["EMM-FINAL-07", "EMM-IPC-11", "EMM-LEDGER-04"]),
        ("rmm_repaired:ChecksKey", ["EMM-IPC-11", "EMM-LEDGER-04"]),
        ("rmm_repaired:NumbersBuffers", ["EMM-FINAL-07", "EMM-IPC-11"]),
    ],
)
def test_each_defect_is_one_cause_and_no_more(
    wheel: importlib.metadata.Distribution, allocert: Program, subject: str, causes: list[str]
) -> None:
    arguments = (subject, "--python", sys.executable, "--filter", "emm/{finalizer,ipc,reset}/*")
    ended = allocert("run", "emm", *arguments, path=[STANDIN])
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert sorted(re.findall(r"^MUST (\S+) in ", ended.stdout, re.MULTILINE)) == causes


def test_the_expectations_say_which_version_they_are_of(
    wheel: importlib.metadata.Distribution,
) -> None:
    assert f"rmm-cu13 {wheel.version}," in EXPECTED.read_text()
