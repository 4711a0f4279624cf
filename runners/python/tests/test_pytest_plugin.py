"""The plugin of pytest, in sessions of their own."""

import pathlib

import allocert
import pytest
from conftest import MUTANTS
from test_api import EXPECTATIONS

pytest_plugins = ["pytester"]

VIOLATING = (
    "--allocert=reference:host-only",
    "--allocert-side=emm",
    "--allocert-profile=nbep7",
)
CONFORMING = ("--allocert=reference", "--allocert-side=emm")


def test_a_conforming_case_passes_and_others_are_skipped_with_a_reason(
    pytester: pytest.Pytester,
) -> None:
    ended = pytester.runpytest(*CONFORMING, "-k", "emm/zero/", "-rs", "-v")
    outcomes = ended.parseoutcomes()
    assert outcomes["passed"] and outcomes["passed"] + outcomes["skipped"] == 15
    ended.stdout.fnmatch_lines(["allocert::emm/zero/* PASSED*", "SKIPPED*not applicable: *"])
    assert ended.ret == 0


def test_a_failing_case_shows_the_finding_as_the_report_does(pytester: pytest.Pytester) -> None:
    ended = pytester.runpytest(*VIOLATING, "-k", "emm/info", "-rs")
    outcomes = ended.parseoutcomes()
    assert outcomes["failed"] == 1 and outcomes["skipped"]
    ended.stdout.fnmatch_lines(
        [
            "MUST EMM-INFO-10 in emm/info/always-answers",
            "    the subject violated this at fixtures/cases/emm/info/always-answers.yaml:*",
            "    expected  get_memory_info returns",
            "    more: allocert explain EMM-INFO-10",
            "SKIPPED * not applicable: *",
        ]
    )
    ended.stdout.no_fnmatch_line("*pytest_plugin.py:*in runtest*")
    assert ended.ret == 1


def test_an_expected_violation_is_an_expected_failure_with_its_reason(
    pytester: pytest.Pytester,
) -> None:
    file = pytester.makefile(".yaml", expect=EXPECTATIONS)
    ended = pytester.runpytest(*VIOLATING, f"--allocert-expect={file}", "-k", "emm/info", "-rx")
    assert ended.parseoutcomes()["xfailed"] == 1
    ended.stdout.fnmatch_lines(["XFAIL allocert::emm/info/always-answers - it cannot tell"])
    assert ended.ret == 0


@pytest.mark.parametrize(
    ("arguments", "outcome"), [((), "errors"), (("--allocert-allow-not-observed",), "skipped")]
)
def test_a_case_that_is_not_observed_is_an_error_unless_it_is_allowed(
    pytester: pytest.Pytester, arguments: tuple[str, ...], outcome: str
) -> None:
    """numba-cuda calls a function in a launch that the software driver does not have."""
    subject = ("--allocert=allocert.adapters.numba_cuda:Consumer", "--allocert-side=cai-consumer")
    ended = pytester.runpytest(*subject, *arguments, "-k", "accepted-launch/version:2", "-rs")
    assert ended.parseoutcomes()[outcome] == 1
    ended.stdout.fnmatch_lines(["*not?observed: * the software driver, which does not have *"])


def test_an_expected_violation_that_is_gone_fails(pytester: pytest.Pytester) -> None:
    text = EXPECTATIONS.replace("reference:host-only", "reference")
    file = pytester.makefile(".yaml", expect=text)
    arguments = ("--allocert=reference", *VIOLATING[1:], f"--allocert-expect={file}")
    ended = pytester.runpytest(*arguments, "-k", "emm/info/always")
    ended.assert_outcomes(failed=1, deselected=ended.parseoutcomes()["deselected"])
    ended.stdout.fnmatch_lines(["*EMM-INFO-10*"])


def test_a_violation_below_must_passes_with_a_warning(pytester: pytest.Pytester) -> None:
    subject = "allocert_mutants.emm.memalloc:NegativeSizeIsZero"
    arguments = (f"--allocert={subject}", "--allocert-side=emm", "-k", "emm/alloc/negative/")
    ended = pytester.runpytest(*arguments, "-o", f"pythonpath={MUTANTS}")
    outcomes = ended.parseoutcomes()
    assert outcomes["passed"] == outcomes["warnings"] == 2
    ended.stdout.fnmatch_lines(["*AllocertWarning: SHOULD EMM-ALLOC-24: expected memalloc raises*"])


def test_x_stops_at_the_first_failure(pytester: pytest.Pytester) -> None:
    ended = pytester.runpytest(*VIOLATING, "-k", "emm/info or emm/zero", "-x")
    outcomes = ended.parseoutcomes()
    assert outcomes["failed"] == 1 and "emm/zero" not in ended.stdout.str()


def test_cases_are_listed_without_a_run(pytester: pytest.Pytester) -> None:
    """The subject does not exist, and nobody looks for it."""
    arguments = ("--allocert=absent", "--allocert-side=emm", "--collect-only")
    ended = pytester.runpytest(*arguments, "-q", "-k", "emm/zero")
    ended.stdout.fnmatch_lines(["allocert::emm/zero/*", "15/*tests collected*"])
    assert ended.ret == 0


def test_the_projects_own_tests_run_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_own():\n    assert True\n")
    ended = pytester.runpytest(*CONFORMING, "-k", "test_own or emm/zero")
    outcomes = ended.parseoutcomes()
    assert outcomes["passed"] + outcomes["skipped"] == 16


def _project(pytester: pytest.Pytester) -> None:
    """A project whose settings give the options, with a test of its own in a folder."""
    pytester.makeini(f"[pytest]\naddopts = {' '.join(CONFORMING)}\n")
    pytester.mkdir("tests")
    (pytester.path / "tests/test_own.py").write_text("def test_own():\n    assert True\n")


@pytest.mark.parametrize("named", ["tests", "tests/test_own.py", "tests/test_own.py::test_own"])
def test_no_case_runs_beside_a_test_that_is_named(pytester: pytest.Pytester, named: str) -> None:
    _project(pytester)
    ended = pytester.runpytest(named)
    ended.assert_outcomes(passed=1)
    ended.stdout.fnmatch_lines(["allocert: the arguments name other tests; `allocert` names *"])


@pytest.mark.parametrize("named", [(), (".",), ("tests", "."), ("tests", "allocert")])
def test_all_cases_are_there_unless_other_tests_are_named(
    pytester: pytest.Pytester, named: tuple[str, ...]
) -> None:
    _project(pytester)
    ended = pytester.runpytest(*named, "--collect-only", "-q")
    listed = ended.stdout.str()
    assert "test_own" in listed and listed.count("allocert::emm/") == len(allocert.cases("emm"))


@pytest.mark.parametrize(
    ("named", "count"),
    [
        (["allocert::emm/alloc/exact-size/size:4096"], 1),
        (["allocert::emm/alloc/exact-size"], 5),
        (["allocert::emm/alloc/exact-size/", "allocert::emm/alloc/exact-size/size:1"], 5),
        (["tests/test_own.py", "allocert::emm/alloc/exact-size"], 6),
    ],
)
def test_a_case_is_named_by_its_node_id(
    pytester: pytest.Pytester, named: list[str], count: int
) -> None:
    _project(pytester)
    ended = pytester.runpytest(*named, "-v")
    ended.assert_outcomes(passed=count)
    ended.stdout.fnmatch_lines(["allocert::emm/alloc/exact-size/size:* PASSED*"])


def test_a_failed_case_runs_again_by_the_id_that_the_summary_shows(
    pytester: pytest.Pytester,
) -> None:
    ended = pytester.runpytest(*VIOLATING, "allocert::emm/info")
    (line,) = [line for line in ended.outlines if line.startswith("FAILED ")]
    again = pytester.runpytest(*VIOLATING, line.split()[1])
    again.assert_outcomes(failed=1)


def test_a_node_id_of_no_case_is_an_error(pytester: pytest.Pytester) -> None:
    ended = pytester.runpytest(*CONFORMING, "allocert::emm/absent")
    ended.stdout.fnmatch_lines(["*no case of this side is or is below `emm/absent`"])
    ended.assert_outcomes(errors=1)


def test_a_file_of_the_name_allocert_is_a_file(pytester: pytest.Pytester) -> None:
    pytester.mkdir("allocert")
    (pytester.path / "allocert/test_own.py").write_text("def test_own():\n    assert True\n")
    pytester.runpytest(*CONFORMING, "allocert").assert_outcomes(passed=1)


def test_without_the_option_there_is_no_effect(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_own():\n    assert True\n")
    code = "import sys\ndef pytest_unconfigure():\n    assert 'allocert.api' not in sys.modules\n"
    pytester.makeconftest(code)
    ended = pytester.runpytest_subprocess()
    ended.assert_outcomes(passed=1)
    assert ended.ret == 0


def test_the_program_runs_once_on_the_selected_cases(pytester: pytest.Pytester) -> None:
    ended = pytester.runpytest(*CONFORMING, "-k", "emm/zero", "--allocert-out=run.jsonl")
    assert ended.ret == 0
    text = (pytester.path / "run.jsonl").read_text()
    assert text.count('{"header":') == 1 and text.count('{"verdict":') == 15


def test_a_run_of_all_cases_has_no_filter(pytester: pytest.Pytester) -> None:
    """So `allocert judge` knows that no case is missing."""
    ended = pytester.runpytest(*CONFORMING, "--allocert-out=run.jsonl", "-q")
    assert ended.ret == 0
    header = (pytester.path / "run.jsonl").read_text().split("\n", 1)[0]
    assert '"selection":{}' in header


def test_processes_of_xdist_do_not_write_one_run_file(pytester: pytest.Pytester) -> None:
    """The option stands for the one of pytest-xdist."""
    code = "def pytest_addoption(parser):\n    parser.addoption('--num', dest='numprocesses')\n"
    pytester.makeconftest(code)
    ended = pytester.runpytest(*CONFORMING, "--num=2", "--allocert-out=run.jsonl")
    ended.stderr.fnmatch_lines(["ERROR: --allocert-out names one file*leave -n out*"])
    assert ended.ret == 4 and not (pytester.path / "run.jsonl").exists()


def test_a_subject_that_cannot_be_loaded_is_one_error(pytester: pytest.Pytester) -> None:
    # Without its summary, which repeats the message where the variable CI is set.
    ended = pytester.runpytest("--allocert=absent", "--allocert-side=emm", "-rN")
    ended.assert_outcomes(errors=1)
    ended.stdout.fnmatch_lines(["*no module named `absent`*", "*allocert gave no verdicts*"])
    assert ended.stdout.str().count("no module named `absent`") == 1
    ended.stdout.no_fnmatch_line("*During handling*")
    ended.stdout.no_fnmatch_line("*Traceback*")
    assert ended.ret == 2


def test_processes_of_xdist_get_no_node_id(pytester: pytest.Pytester) -> None:
    """The option stands for the one of pytest-xdist."""
    code = "def pytest_addoption(parser):\n    parser.addoption('--num', dest='numprocesses')\n"
    pytester.makeconftest(code)
    ended = pytester.runpytest(*CONFORMING, "--num=2", "allocert::emm/zero")
    ended.stderr.fnmatch_lines(["ERROR: allocert::emm/zero cannot be passed*leave -n out*"])
    assert ended.ret == 4


def test_an_unusable_subject_is_an_error(pytester: pytest.Pytester) -> None:
    text = "import numba.cuda\nclass Manager(numba.cuda.HostOnlyCUDAMemoryManager):\n"
    pytester.makepyfile(
        broken=text + "    def __init__(self, *a, **k):\n        raise OSError(7)\n"
    )
    arguments = ("--allocert=broken:Manager", "--allocert-side=emm", "-k", "emm/alloc/aligned/")
    ended = pytester.runpytest(*arguments)
    outcomes = ended.parseoutcomes()
    assert outcomes.get("errors") or outcomes.get("failed")
    assert "passed" not in outcomes and ended.ret == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--allocert=reference"], "--allocert needs --allocert-side"),
        (["--allocert-side=emm"], "--allocert-side needs --allocert SUBJECT"),
        (["--allocert-expect=f"], "--allocert-expect needs --allocert SUBJECT"),
    ],
)
def test_half_of_the_options_are_refused(
    pytester: pytest.Pytester, arguments: list[str], message: str
) -> None:
    ended = pytester.runpytest(*arguments)
    ended.stderr.fnmatch_lines([f"ERROR: *{message}*"])
    assert ended.ret == 4


def test_an_unknown_side_is_an_error_of_the_collection(pytester: pytest.Pytester) -> None:
    ended = pytester.runpytest("--allocert=reference", "--allocert-side=cuda")
    ended.stdout.fnmatch_lines(["*there is no*cuda*"])
    ended.assert_outcomes(errors=1)


def test_a_python_subject_of_the_project_is_found(pytester: pytest.Pytester) -> None:
    """Below the root of the project, as pytest's own option `pythonpath` names it."""
    folder = pathlib.Path(pytester.mkdir("src"))
    (folder / "plug.py").write_text("from allocert.numba import PoolManager as Manager\n")
    pytester.makeini("[pytest]\npythonpath = src\n")
    arguments = ("--allocert=plug:Manager", "--allocert-side=emm", "-k", "emm/zero")
    assert pytester.runpytest(*arguments).ret == 0
