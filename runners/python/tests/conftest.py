"""What the tests share: the installed program, its driver, and the mutants."""

import os
import pathlib
import subprocess
from collections.abc import Iterator, Sequence

import pytest
from allocert import program
from harness import ROOT, Program, Worker

MUTANTS = pathlib.Path(os.environ.get("ALLOCERT_MUTANTS", ROOT / "conformance/mutants/python"))
#: The folders of packages that lie beside the pinned ones, each for the front of PYTHONPATH.
BESIDE = pathlib.Path(os.environ.get("ALLOCERT_BESIDE", ROOT / ".venv"))


@pytest.fixture(scope="session")
def binaries() -> pathlib.Path:
    """The folder of the program and the libraries that the wheel brings along."""
    assert (program.FOLDER / "allocert").is_file(), "install the package first: cargo xtask package"
    return program.FOLDER


@pytest.fixture(scope="session")
def newest() -> pathlib.Path:
    """The folder of the newest cuda-bindings, for the front of PYTHONPATH."""
    return _beside("newest", "cuda/bindings")


@pytest.fixture
def numpy_beside(request: pytest.FixtureRequest) -> pathlib.Path:
    """The folder of another NumPy; a test names it as an indirect parameter."""
    return _beside(request.param, "numpy")


def _beside(name: str, package: str) -> pathlib.Path:
    folder = BESIDE / name
    assert (folder / package).is_dir(), f"{folder} holds no {package}: cargo xtask package"
    return folder


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
