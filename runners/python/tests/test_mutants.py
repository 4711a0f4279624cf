"""The kill matrix of the Python mutants: each is run where its requirements are stated, and found to break all of them."""

import concurrent.futures
import functools
import re
import sys

import pytest
import yaml
from harness import ROOT
from runfile import findings

REGISTRY = yaml.safe_load((ROOT / "conformance/mutants/mutants.yaml").read_text())
MUTANTS = {entry["name"]: entry for entry in REGISTRY if entry["flavor"] == "python"}
CATALOGUE = ROOT / "conformance/requirements/catalogue/emm"
PROFILES = yaml.safe_load((CATALOGUE / "profiles.yaml").read_text())["profiles"]
DEFAULT = next(one["name"] for one in PROFILES if one.get("default"))
LISTS = [yaml.safe_load(path.read_text()) for path in CATALOGUE.glob("*.yaml") if path.stem != "profiles"]
VERSIONS = {requirement["id"]: requirement["versions"] for one in LISTS for requirement in one}
#: Runs side by side: the whole suite has two cores to count on.
JOBS = 2
#: What no case states is checked in all of them, so it is looked for in a few that make every sort of call.
EVERYWHERE = frozenset(
    f"emm/{case}"
    for case in (
        "alloc/neighbours-keep-bytes",
        "alloc/view",
        "finalizer/after-reset-no-context",
        "finalizer/second-device-other-thread",
        "ipc/type",
        "oom/array",
    )
)
HOPELESS = ["python-does-nothing", "python-always-raises", "python-always-out-of-memory"]


@functools.cache
def stating(allocert, requirement):
    """The cases that state a requirement, as the program explains it."""
    explained = allocert("explain", requirement)
    assert explained.returncode == 0, explained.stderr
    return frozenset(re.findall(r"^tested by +fixtures/cases/(\S+)\.yaml$", explained.stdout, re.MULTILINE))


def broken(allocert, folder, mutant):
    """The requirements that the suite says this mutant breaks."""
    cases = set().union(*(stating(allocert, requirement) or EVERYWHERE for requirement in mutant["breaks"]))
    return {one["requirement"] for ones in certify(allocert, folder, mutant, cases).values() for one in ones}


def profile(mutant):
    """The profile that contains all of what it breaks, the default if that one does."""
    common = set.intersection(*(set(VERSIONS[requirement]) for requirement in mutant["breaks"]))
    return DEFAULT if DEFAULT in common else min(common)


def certify(allocert, folder, mutant, cases):
    out = folder / f"{mutant['name']}.jsonl"
    selected = ["--filter", "{" + ",".join(sorted(cases)) + "}", "--jobs", 1, "--timeout", 1, "--profile", profile(mutant)]
    ended = allocert("run", "emm", mutant["subject"], "--python", sys.executable, "--out", out, *selected)
    assert out.is_file(), ended.stdout + ended.stderr
    return findings(out)


@pytest.fixture(scope="module")
def matrix(request, allocert, tmp_path_factory):
    """name -> a promise of what the mutant breaks, for those that are asked for."""
    folder = tmp_path_factory.mktemp("matrix")
    asked = {item.callspec.params["name"] for item in request.session.items if "matrix" in item.fixturenames}
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        yield {name: pool.submit(broken, allocert, folder, MUTANTS[name]) for name in MUTANTS if name in asked}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_found_out(matrix, name):
    missed = set(MUTANTS[name]["breaks"]) - matrix[name].result()
    assert not missed, f"{name} ({MUTANTS[name]['about']}) breaks {sorted(missed)}, and nobody noticed"


@pytest.mark.parametrize("name", HOPELESS)
def test_a_hopeless_subject_violates(allocert, tmp_path, name):
    found = certify(allocert, tmp_path, MUTANTS[name], {"emm/alloc", "emm/host", "emm/reset"})
    assert sum(bool(ones) for ones in found.values()) > len(found) // 2
