"""The projects that `allocert new` writes pass their own tests as they are written."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from allocert import program
from harness import ROOT, Program

#: What needs no network, and finds the installed program and this interpreter.
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "CARGO_NET_OFFLINE": "true",
    "CARGO_TARGET_DIR": str(ROOT / "target/new-project"),
}
HEADER = ROOT / "reference/abi/include/allocert_emm.h"


@pytest.fixture
def project(request: pytest.FixtureRequest, allocert: Program, tmp_path: pathlib.Path) -> str:
    """The folder of a new project; a test names its language as an indirect parameter."""
    folder = tmp_path / "project"
    ended = allocert("new", request.param, folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    printed = ended.stdout.split("\n\n")[0].splitlines()
    assert sorted(printed) == sorted(str(path) for path in folder.rglob("*") if path.is_file())
    return str(folder)


def run(folder: str, *command: str) -> str:
    ended = subprocess.run(
        command,
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-8000:]
    return ended.stdout


@pytest.mark.parametrize("project", ["python"], indirect=True)
def test_a_new_project_in_python_passes_its_tests(project: str) -> None:
    printed = run(project, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    summary = printed.splitlines()[-1]
    assert "warning" not in summary and "failed" not in summary
    assert int(summary.split(" passed")[0].split()[-1]) > 400


@pytest.mark.parametrize("project", ["c"], indirect=True)
def test_a_new_project_in_c_passes_its_tests(project: str) -> None:
    assert (pathlib.Path(project) / "include/allocert_emm.h").read_text() == HEADER.read_text()
    printed = run(project, "make", "check", "CFLAGS=-O1 -Wall -Wextra -Werror")
    assert "no violation; 2" in printed.splitlines()[-1]


@pytest.mark.parametrize("project", ["rust"], indirect=True)
def test_a_new_project_in_rust_passes_its_tests(project: str) -> None:
    """With the folder `allocert` that its README.md asks for."""
    (pathlib.Path(project) / "allocert").symlink_to(ROOT)
    compile_as_here(pathlib.Path(project).parent)
    printed = run(project, "cargo", "test", "--quiet", "--test", "allocert")
    assert "test result: ok. 2" in printed
    assert "panicked" not in run_into_closed_pipe(project)


def compile_as_here(folder: pathlib.Path) -> None:
    """Gives what is below this folder the settings of this repository, and compiled crates.

    Cargo takes the crates of others from there, which are the most. It compiles allocert's own for
    each workspace again, and sooner without optimisation. In one target folder the two workspaces
    would take each other's.
    """
    compiled = ROOT / "target/debug"
    if compiled.is_dir():
        target = pathlib.Path(ENVIRONMENT["CARGO_TARGET_DIR"]) / "debug"
        # Of deps, not the programs: they are large.
        for pattern in ("deps/lib*", "deps/*.d", "build/*", ".fingerprint/*"):
            for source in compiled.glob(pattern):
                if "allocert" not in source.name:
                    copy = target / source.relative_to(compiled)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    if source.is_dir():
                        shutil.copytree(source, copy, dirs_exist_ok=True)
                    else:
                        shutil.copy2(source, copy)
    manifest = (ROOT / "Cargo.toml").read_text()
    # It ends in the table of the crates that have settings of their own.
    profile = manifest[manifest.index("[profile.dev]") : manifest.index("[profile.release]")]
    for own in [*ROOT.glob("*/Cargo.toml"), *ROOT.glob("*/*/Cargo.toml")]:
        (name,) = re.findall(r'^\[package\]\nname = "(.+)"$', own.read_text(), re.MULTILINE)
        if f"\n{name}.opt-level" not in profile:
            profile += f"{name}.opt-level = 0\n"
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(profile)


def run_into_closed_pipe(folder: str) -> str:
    """Lists the cases as tests of cargo for a reader that is gone. Returns what stderr shows."""
    reader, writer = os.pipe()
    os.close(reader)
    command = ["cargo", "test", "--quiet", "--test", "allocert", "--", "--list"]
    ended = subprocess.run(
        command,
        cwd=folder,
        env=ENVIRONMENT,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert ended.returncode != 0 and "141" in ended.stderr, ended.stderr
    return ended.stderr


@pytest.mark.parametrize("language", ["python", "c", "rust"])
def test_no_file_of_a_template_is_forgotten(
    allocert: Program, tmp_path: pathlib.Path, language: str
) -> None:
    """The program has a list of the files, and git has another."""
    assert allocert("new", language, tmp_path / "new").returncode == 0
    written = {
        str(path.relative_to(tmp_path / "new")): path.read_text()
        for path in (tmp_path / "new").rglob("*")
        if path.is_file()
    }
    template = ROOT / "runners/cli/templates" / language
    listed = subprocess.run(
        ["git", "ls-files", "."], cwd=template, capture_output=True, text=True, check=True
    )
    # cargo would leave a folder with a `Cargo.toml` out of the package.
    expected = {
        name.removesuffix(".in"): (template / name).read_text()
        for name in listed.stdout.splitlines()
    }
    assert {name: written.get(name) for name in expected} == expected
    assert set(written) - set(expected) <= {"include/allocert_emm.h"}


def test_a_new_project_in_an_empty_folder(allocert: Program, tmp_path: pathlib.Path) -> None:
    assert allocert("new", "c", tmp_path).returncode == 0
    assert (tmp_path / "Makefile").is_file()


def test_a_folder_in_use_is_refused_and_left_alone(
    allocert: Program, tmp_path: pathlib.Path
) -> None:
    kept = tmp_path / "kept"
    kept.write_text("mine")
    for folder in (tmp_path, kept):
        ended = allocert("new", "c", folder)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr.startswith(
            f"allocert: error[unusable-project-folder]: cannot write a project to {folder}: "
        )
    assert [path.name for path in tmp_path.iterdir()] == ["kept"] and kept.read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_refused(allocert: Program) -> None:
    ended = allocert("new", "rust", "/proc/nothing/new")
    assert ended.returncode == 2 and "cannot write /proc/nothing/new" in ended.stderr


def test_an_unknown_language_is_refused(allocert: Program, tmp_path: pathlib.Path) -> None:
    ended = allocert("new", "cobol", tmp_path / "new")
    assert ended.returncode == 2 and "python, c, rust" in ended.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_the_commands_and_no_hidden_ones(allocert: Program, shell: str) -> None:
    ended = allocert("completions", shell)
    assert ended.returncode == 0
    for word in ("explore", "--isolation", "junit"):
        assert word.removeprefix("--") in ended.stdout
    assert "worker-native" not in ended.stdout and "ipc-peer" not in ended.stdout


def test_bash_completes_an_option(tmp_path: pathlib.Path) -> None:
    script = (
        f'source <("{program.FOLDER}/allocert" completions bash)\n'
        "COMP_WORDS=(allocert run --isol) COMP_CWORD=2\n"
        '_allocert allocert --isol run\necho "${COMPREPLY[@]}"\n'
    )
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "--isolation\n"


def test_manual_pages(allocert: Program) -> None:
    page = allocert("man").stdout
    assert "allocert\\-run(1)" in page and "worker\\-native" not in page
    page = allocert("man", "run").stdout
    assert ".TH allocert-run 1" in page and "isolation" in page
    for name in ("nothing", "worker-native"):
        ended = allocert("man", name)
        assert ended.returncode == 2
        assert f"error[command-line]: there is no command `{name}`" in ended.stderr
