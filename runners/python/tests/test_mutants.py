"""The Python mutants in the installed program.

conformance/mutants/tests/kill.rs tests all mutants.
"""

import pathlib
import re
import sys

import pytest
import yaml
from harness import ROOT, Program
from runfile import findings, verdicts

REGISTRY = yaml.safe_load((ROOT / "conformance/mutants/mutants.yaml").read_text())
MUTANTS = {entry["name"]: entry for entry in REGISTRY if entry["flavor"] == "python"}
USELESS = ["python-does-nothing", "python-always-raises", "python-always-out-of-memory"]


def test_the_program_brings_the_mutants_along(allocert: Program) -> None:
    ended = allocert(
        "mutants",
        "emm",
        "--flavor",
        "python",
        "--filter",
        "python-info-*",
        "--python",
        sys.executable,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    count = sum(name.startswith("python-info-") for name in MUTANTS)
    assert ended.stdout.splitlines()[-1].startswith(f"{count} of {count} mutants killed, ")


@pytest.mark.parametrize("name", USELESS)
def test_a_useless_subject_violates(allocert: Program, tmp_path: pathlib.Path, name: str) -> None:
    out = tmp_path / "run.jsonl"
    selected = ["--filter", "{emm/alloc,emm/host,emm/reset}", "--jobs", 1, "--timeout", 1]
    ended = allocert(
        "run", "emm", MUTANTS[name]["subject"], "--python", sys.executable, "--out", out, *selected
    )
    assert out.is_file(), ended.stdout + ended.stderr
    found = findings(out)
    assert sum(bool(ones) for ones in found.values()) > len(found) // 2


@pytest.mark.parametrize("side", ["cai-producer", "cai-consumer"])
def test_the_base_class_of_the_mutants_conforms(
    allocert: Program, tmp_path: pathlib.Path, side: str
) -> None:
    _, _, role = side.partition("-")
    out, subject = (
        tmp_path / "run.jsonl",
        f"allocert_mutants.cai_{role}.conforming_{role}:{role.capitalize()}",
    )
    ended = allocert("run", side, subject, "--python", sys.executable, "--out", out)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # An import that is a view accesses no memory, so the case about its order shows nothing.
    unseen = {case for case, verdict in verdicts(out).items() if verdict == "not_observed"}
    assert all(re.match("cai-consumer/order/(back-edge|layout)-import/", case) for case in unseen)
    # It declines a reshape that no strides express.
    declined = {case for case, verdict in verdicts(out).items() if verdict == "not_applicable"}
    assert declined <= {"cai-producer/strides/reshaped-strided"}
    assert set(verdicts(out).values()) <= {"conforms", "not_observed", "not_applicable"}
    assert not any(findings(out).values())


def test_a_defect_of_every_export_is_one_cause(allocert: Program, tmp_path: pathlib.Path) -> None:
    """Whatever reads the exports fails, in nearly every case; the report names one cause."""
    out = tmp_path / "run.jsonl"
    subject = MUTANTS["producer-shape-is-list"]["subject"]
    options = ("--python", sys.executable, "--out", out)
    ended = allocert("run", "cai-producer", subject, *options)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    count = sum(map(len, findings(out).values()))
    assert count > 300
    first = ended.stdout.splitlines()[0]
    assert first.startswith(f"likeliest cause of all {count} findings: the subject violates")
    assert "CAI-SHAPE-01" in first
    assert "requirements, from 1 cause," in ended.stdout.splitlines()[-1]
    again = allocert("judge", out)
    assert again.stdout == ended.stdout
