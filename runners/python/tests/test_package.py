"""The package as a user installs it."""

import ast
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys

import allocert
from harness import ROOT


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env=dict(os.environ, **environment),
        check=False,
    )


def test_the_version_is_the_one_of_the_distribution() -> None:
    assert allocert.__version__ == importlib.metadata.version("allocert")


def test_the_package_needs_no_numba() -> None:
    code = (
        "import sys; sys.modules['numba'] = None;"
        " import allocert, allocert._allocert, allocert.program"
    )
    assert python("-c", code).stderr == ""


def test_the_package_says_that_it_is_typed() -> None:
    folder = pathlib.Path(allocert.__file__).parent
    assert (folder / "py.typed").is_file() and (folder / "_allocert.pyi").is_file()


def test_the_package_has_what_else_a_user_needs() -> None:
    folder = pathlib.Path(allocert.__file__).parent
    for inside, of_repository in (
        ("include", ROOT / "reference/abi/include"),
        ("expectations", ROOT / "fixtures/expectations"),
    ):
        files = {file.name: file.read_bytes() for file in of_repository.iterdir()}
        assert files == {file.name: file.read_bytes() for file in (folder / inside).iterdir()}
    assert (folder / "ADAPTERS.md").is_file()


def test_module_and_console_script_are_the_same_program() -> None:
    script = pathlib.Path(sys.executable).parent / "allocert"
    as_script = subprocess.run([script, "list"], capture_output=True, text=True, check=False)
    as_module = python("-m", "allocert", "list")
    assert as_module.returncode == as_script.returncode == 0
    assert as_module.stdout == as_script.stdout != ""


def test_exit_codes_pass_through() -> None:
    assert python("-m", "allocert", "run", "emm").returncode == 2


def test_the_program_runs_with_a_closed_output() -> None:
    command = f"exec {sys.executable} -m allocert list >&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_package_that_was_not_built_says_what_to_do() -> None:
    code = (
        "import pathlib; from allocert import program;"
        " program.FOLDER = pathlib.Path('/nowhere'); program.main()"
    )
    ended = python("-c", code)
    assert ended.returncode == 1
    assert "/nowhere/allocert is missing" in ended.stderr and "pip install ." in ended.stderr


def test_the_extras_are_those_that_the_readme_names() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*\d) \|$", (ROOT / "README.md").read_text(), re.M)
    metadata = importlib.metadata.metadata("allocert")
    assert {extra for extra, _ in rows} == set(metadata.get_all("Provides-Extra") or ())


def test_the_tests_run_with_the_versions_that_the_readme_names() -> None:
    """The requirements pin a version, and further files of them pin older and newer ones."""
    files = (ROOT / "runners/python").glob("requirements*.txt")
    pinned = set(re.findall(r"^([\w-]+)==([\d.]+)", "\n".join(map(_text, files)), re.M))
    rows = re.findall(r"^\| `\w+` \| .* \| (.*\d) \|$", _text(ROOT / "README.md"), re.M)
    named = {
        (name, version)
        for row in rows
        for name, versions in re.findall(r"([a-z][\w-]+) ((?:\d[\d.]*(?:, | and )?)+)", row)
        for version in re.findall(r"\d+(?:\.\d+)+", versions)
    }
    assert len(named) >= 8 and named <= pinned, named - pinned


def _text(path: pathlib.Path) -> str:
    return path.read_text()


def test_named_tuples_have_no_second_base() -> None:
    """Python 3.10 refuses a generic one when the module is imported."""
    package = ROOT / "runners/python/python/allocert"
    wrong = [
        f"{path.name}: {node.name}"
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(_text(path)))
        if isinstance(node, ast.ClassDef) and len(node.bases) > 1
        if any(ast.unparse(base).endswith("NamedTuple") for base in node.bases)
    ]
    assert wrong == []
