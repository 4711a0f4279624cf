"""The Python mutants in the installed program. The whole kill matrix is a test of its own: conformance/mutants/tests/kill.rs."""

import sys

import pytest
import yaml
from harness import ROOT
from runfile import findings, verdicts

REGISTRY = yaml.safe_load((ROOT / "conformance/mutants/mutants.yaml").read_text())
MUTANTS = {entry["name"]: entry for entry in REGISTRY if entry["flavor"] == "python"}
HOPELESS = ["python-does-nothing", "python-always-raises", "python-always-out-of-memory"]


def test_the_program_brings_the_mutants_along(allocert):
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


@pytest.mark.parametrize("name", HOPELESS)
def test_a_hopeless_subject_violates(allocert, tmp_path, name):
    out = tmp_path / "run.jsonl"
    selected = ["--filter", "{emm/alloc,emm/host,emm/reset}", "--jobs", 1, "--timeout", 1]
    ended = allocert(
        "run", "emm", MUTANTS[name]["subject"], "--python", sys.executable, "--out", out, *selected
    )
    assert out.is_file(), ended.stdout + ended.stderr
    found = findings(out)
    assert sum(bool(ones) for ones in found.values()) > len(found) // 2


@pytest.mark.parametrize("side", ["cai-producer", "cai-consumer"])
def test_what_the_mutants_are_made_of_conforms(allocert, tmp_path, side):
    _, _, role = side.partition("-")
    out, subject = (
        tmp_path / "run.jsonl",
        f"allocert_mutants.cai_{role}.conforming_{role}:{role.capitalize()}",
    )
    ended = allocert("run", side, subject, "--python", sys.executable, "--out", out)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert set(verdicts(out).values()) == {"conforms"} and not any(findings(out).values())
