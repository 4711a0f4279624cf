"""What the tests share: the installed program, its driver, and the mutants."""

import os
import pathlib
import subprocess
from collections.abc import Iterator, Sequence

import pytest
from allocert import program
from harness import ROOT, Program, Worker

MUTANTS = pathlib.Path(os.environ.get("ALLOCERT_MUTANTS", ROOT / "conformance/mutants/python"))
NEWEST = pathlib.Path(os.environ.get("ALLOCERT_NEWEST", ROOT / ".venv/newest"))


@pytest.fixture(scope="session")
def binaries() -> pathlib.Path:
    """The folder of the program and the libraries that the wheel brings along."""
    assert (program.FOLDER / "allocert").is_file(), "install the package first: cargo xtask package"
    return program.FOLDER


@pytest.fixture(scope="session")
def newest() -> pathlib.Path:
    """The folder of the newest cuda-bindings, for the front of PYTHONPATH."""
    assert (NEWEST / "cuda/bindings").is_dir(), (
        f"{NEWEST} holds no cuda-bindings: cargo xtask package"
    )
    return NEWEST


@pytest.fixture(scope="session")
def libraries(binaries: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder that holds the software driver under the names by which libraries look for it."""
    folder = tmp_path_factory.mktemp("lib")
    for name in ("libcuda.so", "libcuda.so.1"):
        (folder / name).symlink_to(binaries / "liballocert_libcuda.so")
    return folder


@pytest.fixture
def subjects(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder for modules that a test writes."""
    folder = tmp_path / "subjects"
    folder.mkdir()
    return folder


@pytest.fixture
def worker(
    tmp_path: pathlib.Path, libraries: pathlib.Path, subjects: pathlib.Path
) -> Iterator[Worker]:
    """A started worker that finds the mutants and the test's own modules."""
    folder = tmp_path / "run"
    folder.mkdir()
    with Worker(folder, libraries, [MUTANTS, subjects]) as started:
        yield started


@pytest.fixture(scope="session")
def allocert(binaries: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Runs the program in an empty folder, with the mutants importable."""

    def run(
        *arguments: object, path: Sequence[pathlib.Path] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        search = os.pathsep.join(map(str, [*path, MUTANTS]))
        return subprocess.run(
            [str(binaries / "allocert"), *map(str, arguments)],
            cwd=tmp_path_factory.mktemp("cwd"),
            env=dict(os.environ, PYTHONPATH=search, **environment),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
