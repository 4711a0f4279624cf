"""`allocert.run`, `allocert.read` and `allocert.cases`, with the installed program."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import allocert
import pytest
from allocert import results
from conftest import MUTANTS

EXPECTATIONS = """\
subject: reference:host-only
seen_on: allocert 0.1.0
expected:
  - requirement: EMM-INFO-10
    cases: [emm/info/always-answers]
    reason: it cannot tell
"""


def violating(**options: object) -> allocert.Run:
    """A run with one violation: by NBEP 7 every manager reports memory information."""
    run: Callable[..., allocert.Run] = allocert.run
    return run("emm", "reference:host-only", profile="nbep7", filter="emm/info/*", **options)


def test_a_conforming_run_has_a_verdict_for_each_case_and_no_finding() -> None:
    run = allocert.run("emm", "reference", filter="emm/zero/*")
    assert run.ok and (run.exit.code, run.exit.meaning) == (0, "no violation")
    assert (run.side, run.subject, run.driver) == ("emm", "reference", "sim")
    assert run.findings == () and run.path is None
    assert "conforms" in set(run.verdicts.values())
    assert list(run.verdicts) == [name for name in allocert.cases("emm") if "/zero/" in name]


def test_a_violation_is_data() -> None:
    run = violating()
    assert not run.ok and (run.exit.code, run.exit.meaning) == (1, "violations")
    (finding,) = run.findings
    assert (finding.requirement, finding.level) == ("EMM-INFO-10", "MUST")
    assert finding.case == "emm/info/always-answers"
    assert finding.file == "fixtures/cases/emm/info/always-answers.yaml"
    assert "NOT_SUPPORTED" in finding.message and "returns" in finding.message
    case = run.cases[finding.case]
    assert case.verdict is allocert.Verdict.VIOLATES and case.findings == (finding,)
    assert case.report.startswith("MUST EMM-INFO-10 in emm/info/always-answers\n")


def test_a_case_that_is_not_observed_fails_the_run_unless_it_is_allowed() -> None:
    """numba-cuda calls a function in a launch that the software driver does not have."""
    run: Callable[..., allocert.Run] = allocert.run
    subject = ("cai-consumer", "allocert.adapters.numba_cuda:Consumer")
    chosen = {"filter": "cai-consumer/version/{accepted,accepted-launch}/version:2"}
    failed, allowed = (run(*subject, **chosen, allow_not_observed=flag) for flag in (False, True))
    assert (failed.ok, failed.exit.code, allowed.ok) == (False, 5, True)
    assert failed.verdicts == allowed.verdicts
    fails = [case.id for case in failed.cases.values() if case.fails_run]
    assert fails == ["cai-consumer/version/accepted-launch/version:2"]
    assert not any(case.fails_run for case in allowed.cases.values())


def test_a_finding_has_the_calls_and_the_traceback() -> None:
    """One of its own methods raises, and the other frees a block behind its start."""
    subjects = ["constant_answer:AlwaysRaises", "memalloc:Misaligned"]
    found: list[allocert.Finding] = []
    for subject in subjects:
        name = f"allocert_mutants.emm.{subject}"
        found += allocert.run("emm", name, path=[MUTANTS], filter="emm/alloc/*size*").findings
    assert any(" in " in frame for one in found for frame in one.traceback)
    assert any(call.startswith("#") for one in found for call in one.calls)


def test_a_reason_is_given_for_each_case_without_a_result() -> None:
    run = violating()
    skipped = [case for case in run.cases.values() if case.verdict.value.startswith("not-")]
    assert skipped and all(case.reason for case in skipped)


def test_an_expected_violation_has_its_reason(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "expect.yaml"
    file.write_text(EXPECTATIONS)
    run = violating(expect=file)
    case = run.cases["emm/info/always-answers"]
    assert run.ok and case.verdict == "expected-violation" and case.reason == "it cannot tell"
    assert [finding.listed_because for finding in run.findings] == ["it cannot tell"]


def test_a_run_file_is_kept_and_read_again(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "run.jsonl.gz"
    run = violating(out=out)
    assert run.path == out and allocert.read(out) == run


@pytest.mark.parametrize(
    ("side", "subject", "code", "message"),
    [
        ("cuda", "reference", 2, "error[unknown-interface]: there is no side `cuda`"),
        ("emm", "absent.module", 2, "no module named `absent`"),
        ("emm", "--help", 2, "error["),
        ("emm", "./none.so", 2, "error[missing-library]"),
    ],
)
def test_what_is_refused_is_an_exception_with_the_programs_message(
    side: str, subject: str, code: int, message: str, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(allocert.AllocertError) as raised:
        allocert.run(side, subject, out=tmp_path / "run.jsonl")
    assert raised.value.exit_code == code and message in str(raised.value)


@pytest.mark.parametrize(
    "arguments",
    [{"filter": "a\0b"}, {"profile": "\ud800"}, {"out": "a\0b"}, {"path": ["a\0b"]}],
    ids=["filter", "profile", "out", "path"],
)
def test_an_argument_that_no_program_can_get_is_an_exception(arguments: dict[str, object]) -> None:
    run: Callable[..., allocert.Run] = allocert.run
    with pytest.raises(allocert.AllocertError, match="no program can be given") as raised:
        run("emm", "reference", **arguments)
    assert raised.value.exit_code == 2


@pytest.mark.parametrize("faults", [True, "edges"])
def test_a_fault_sweep_counts_what_has_no_finding(faults: bool | str) -> None:
    options = {"isolation": "group", "jobs": 1, "timeout": 60, "abi": None}
    run: Callable[..., allocert.Run] = allocert.run
    swept = run("emm", "reference", filter="emm/alloc/exact-size", faults=faults, **options)
    assert swept.ok and swept.swept_without_finding > 0


def test_without_a_real_driver_there_are_no_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOCERT_REAL_DRIVER", "/nowhere/libcuda.so.1")
    with pytest.raises(allocert.AllocertError, match="there is no real driver") as raised:
        allocert.run("emm", "reference", driver="real")
    assert raised.value.exit_code == 3


def test_an_option_that_the_program_does_not_know_is_an_exception() -> None:
    with pytest.raises(allocert.AllocertError, match="invalid value 'hope'") as raised:
        allocert.run("emm", "reference", driver="hope")
    assert raised.value.exit_code == 2


def test_a_filter_that_selects_nothing_is_an_exception() -> None:
    with pytest.raises(allocert.AllocertError, match="no case matches `none`") as raised:
        allocert.run("emm", "reference", filter="none")
    assert raised.value.exit_code == 4


def test_a_refused_run_leaves_an_older_run_file_alone(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "run.jsonl"
    run = allocert.run("emm", "reference", filter="emm/zero/*", out=out)
    with pytest.raises(allocert.AllocertError):
        allocert.run("emm", "absent.module", out=out)
    assert allocert.read(out) == run


@pytest.mark.parametrize("side", ["cai", "cuda", "--help"])
def test_cases_of_no_side_are_an_exception(side: str) -> None:
    with pytest.raises(allocert.AllocertError):
        allocert.cases(side)


def test_a_profile_has_fewer_cases() -> None:
    names = allocert.cases("emm", "nbep7")
    assert "emm/info/always-answers" in names
    assert len(names) < len(allocert.cases("emm"))


def test_a_subject_with_control_characters_does_no_harm(tmp_path: pathlib.Path) -> None:
    (tmp_path / "loud.py").write_text("raise OSError('\\x1b[31mred')\n")
    with pytest.raises(allocert.AllocertError) as raised:
        allocert.run("emm", "loud", path=[tmp_path])
    assert "red" in str(raised.value) and "\x1b" not in str(raised.value)


def test_a_file_that_is_no_run_file_is_refused(tmp_path: pathlib.Path) -> None:
    for text, message in [("{}\n", "not a run file"), ("", "empty")]:
        file = tmp_path / "run.jsonl"
        file.write_text(text)
        with pytest.raises(allocert.AllocertError, match=message) as raised:
            allocert.read(file)
        assert raised.value.exit_code == 2
    with pytest.raises(allocert.AllocertError, match="No such file"):
        allocert.read(tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        ("[]", "it has the format None"),
        (json.dumps({"format": 99}), "it has the format 99, and this package reads 1"),
        (json.dumps({"format": 1}), "KeyError: 'run'"),
        (json.dumps({"format": 1, "run": 7, "exit": {}}), "TypeError"),
    ],
)
def test_a_document_of_another_version_is_refused(
    tmp_path: pathlib.Path, text: str, message: str
) -> None:
    file = tmp_path / "report.json"
    file.write_text(text)
    with pytest.raises(allocert.AllocertError) as raised:
        results.document(file, None)
    assert message in str(raised.value) and "install allocert again" in str(raised.value)


def test_a_document_that_is_too_long_is_not_read(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "LIMIT_BYTES", 3)
    file = tmp_path / "report.json"
    file.write_text("1234")
    with pytest.raises(allocert.AllocertError, match="it has 4 bytes, and 3 are read"):
        results.document(file, None)


def test_the_import_of_the_package_imports_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import allocert;"
        " print(sorted(set(sys.modules) - before))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.sep
    )
    assert ended.stdout == "['allocert']\n"


def test_the_package_has_each_of_its_names_and_no_other() -> None:
    assert set(allocert.__all__) <= set(dir(allocert))
    assert all(getattr(allocert, name) for name in allocert.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(allocert, "nothing")  # noqa: B009 - mypy knows that there is none
