"""What the tests share: the installed program, its driver, and the plugins built to fail."""

import os
import pathlib
import subprocess

import pytest
from harness import ROOT, Worker

from allocert import program

MUTANTS = pathlib.Path(os.environ.get("ALLOCERT_MUTANTS", ROOT / "conformance/mutants/python"))
NEWEST = pathlib.Path(os.environ.get("ALLOCERT_NEWEST", ROOT / ".venv/newest"))


@pytest.fixture(scope="session")
def binaries():
    """The folder of the program and the libraries that the wheel brings along."""
    assert (program.FOLDER / "allocert").is_file(), "install the package first: cargo xtask package"
    return program.FOLDER


@pytest.fixture(scope="session")
def newest():
    """The folder of the newest cuda-bindings, which stand beside the pinned ones and win when they come first."""
    assert (NEWEST / "cuda/bindings").is_dir(), (
        f"{NEWEST} holds no cuda-bindings: cargo xtask package"
    )
    return NEWEST


@pytest.fixture(scope="session")
def libraries(binaries, tmp_path_factory):
    """A folder that holds the software driver under the names by which everybody looks for it."""
    folder = tmp_path_factory.mktemp("lib")
    for name in ("libcuda.so", "libcuda.so.1"):
        (folder / name).symlink_to(binaries / "liballocert_libcuda.so")
    return folder


@pytest.fixture
def subjects(tmp_path):
    """A folder for modules that a test writes."""
    folder = tmp_path / "subjects"
    folder.mkdir()
    return folder


@pytest.fixture
def worker(tmp_path, libraries, subjects):
    """A started worker that finds the mutants and the test's own modules."""
    folder = tmp_path / "run"
    folder.mkdir()
    with Worker(folder, libraries, [MUTANTS, subjects]) as started:
        yield started


@pytest.fixture(scope="session")
def allocert(binaries, tmp_path_factory):
    """Runs the program in an empty folder, with the mutants importable."""

    def run(*arguments, path=(), **environment):
        folder = tmp_path_factory.mktemp("cwd")
        search = os.pathsep.join(map(str, [*path, MUTANTS]))
        settings = dict(os.environ, PYTHONPATH=search, **environment)
        command = [str(binaries / "allocert"), *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=folder,
            env=settings,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
