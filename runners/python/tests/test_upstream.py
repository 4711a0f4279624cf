"""numba-cuda's own tests on the software driver.

They run with Numba's manager and with the reference pool as the plugin, on the pinned cuda-bindings
and on the newest.
"""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

MODULES = json.loads((pathlib.Path(__file__).parent / "upstream.json").read_text())["modules"]
#: What unittest prints of a test: `test (module.Class.test)`, the arguments of a subtest if it is
#: one, the first line of its documentation if there is one, on a line of its own, ` ... ` and the
#: outcome.
OUTCOME = re.compile(
    r"^ *(test\w+) \([\w.]+\.(\w+)\.test\w+\)(?: \(.*\))?(?:\n.*)?"
    r" \.\.\. (ok|FAIL|ERROR|skipped.*)$",
    re.MULTILINE,
)
#: Runs the tests of each module in a fork, because the import of Numba takes longer than most of
#: them. The import calls no driver. Prints the exit codes; the report of a module goes into a file.
#: Tests that ask another process wait 4 s for it, which is too short on a busy machine.
RUN = """
import importlib, os, sys, unittest
import numba.cuda

for module in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        for stream, file in ((1, os.devnull), (2, module + ".txt")):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), stream)
        tests = importlib.import_module("numba.cuda.tests." + module)
        tests.FUTURE_TIMEOUT = 60
        unittest.main(tests, argv=["unittest", "-v"])
    print(module, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
#: Enough for all modules on a machine that is busy with other work.
_TIMEOUT_S = 3600
#: The life of a buffer as cuda.core alone manages it, and what it runs on.
BUFFER = """
from cuda.core import Device
import cuda.bindings
device = Device(0)
device.set_current()
stream = device.create_stream()
buffer = device.allocate(4096, stream=stream)
assert buffer.handle and buffer.size == 4096
buffer.close(stream)
stream.sync()
print(cuda.bindings.__file__)
"""


@dataclasses.dataclass(frozen=True)
class Ended:
    """How the fork of a module ended, and what unittest reported."""

    code: int
    report: str


@pytest.fixture(scope="module", params=["pinned", "newest"])
def bindings(request: pytest.FixtureRequest) -> list[pathlib.Path]:
    """The folders to put first on the path, so that these cuda-bindings are found."""
    return [request.getfixturevalue("newest")] if request.param == "newest" else []


def run(
    command: list[str],
    libraries: pathlib.Path,
    bindings: list[pathlib.Path],
    folder: pathlib.Path,
    manager: str = "default",
) -> subprocess.CompletedProcess[str]:
    """Runs the interpreter on the software driver."""
    environment = dict(
        os.environ, LD_LIBRARY_PATH=str(libraries), NUMBA_CUDA_MEMORY_MANAGER=manager
    )
    environment["PYTHONPATH"] = os.pathsep.join(map(str, bindings))
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )


def left_out(module: str, **given: str) -> set[str]:
    """The tests that are left out of a module for a manager and bindings."""
    entries = [
        entry
        for entry in MODULES[module]
        if all(entry.get(what, which) == which for what, which in given.items())
    ]
    return {test for entry in entries for test in entry["tests"]}


@pytest.fixture(scope="module", params=["default", "allocert.numba"])
def manager(request: pytest.FixtureRequest) -> str:
    """What NUMBA_CUDA_MEMORY_MANAGER names."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def upstream(
    libraries: pathlib.Path,
    bindings: list[pathlib.Path],
    manager: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Ended]:
    """All modules, run with these bindings and this manager."""
    folder = tmp_path_factory.mktemp("upstream")
    ended = run(["-c", RUN, *MODULES], libraries, bindings, folder, manager)
    assert ended.returncode == 0, ended.stderr
    codes = dict(line.split() for line in ended.stdout.splitlines())
    return {
        module: Ended(int(code), (folder / f"{module}.txt").read_text())
        for module, code in codes.items()
    }


@pytest.mark.parametrize("module", MODULES)
def test_upstream(
    upstream: dict[str, Ended], bindings: list[pathlib.Path], manager: str, module: str
) -> None:
    expected = left_out(module, manager=manager, bindings="newest" if bindings else "pinned")
    ended = upstream[module]
    outcomes = [(f"{cls}.{test}", outcome) for test, cls, outcome in OUTCOME.findall(ended.report)]
    failed = {name for name, outcome in outcomes if outcome in ("FAIL", "ERROR")}
    assert outcomes, ended.report
    assert failed == expected, ended.report
    assert (ended.code == 0) is (not expected), ended.report


def test_cuda_core_alone(
    libraries: pathlib.Path, bindings: list[pathlib.Path], tmp_path: pathlib.Path
) -> None:
    ended = run(["-c", BUFFER], libraries, bindings, tmp_path)
    assert ended.returncode == 0, ended.stderr
    home = bindings[0] if bindings else pathlib.Path(sys.prefix)
    assert pathlib.Path(ended.stdout.strip()).is_relative_to(home)
