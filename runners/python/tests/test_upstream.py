"""numba-cuda's own tests on the software driver.

They run with Numba's manager and with the reference pool as the plugin, on the pinned cuda-bindings
and on the newest.
"""

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
#: Runs a module's tests. Those that ask another process wait 4 s for it, which is too short on a
#: busy machine.
RUN = """
import importlib, sys, unittest
tests = importlib.import_module(sys.argv[1])
tests.FUTURE_TIMEOUT = 60
unittest.main(tests, argv=["unittest", "-v"])
"""
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


@pytest.fixture(params=["pinned", "newest"])
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
        timeout=300,
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


@pytest.mark.parametrize("manager", ["default", "allocert.numba"])
@pytest.mark.parametrize("module", MODULES)
def test_upstream(
    libraries: pathlib.Path,
    bindings: list[pathlib.Path],
    tmp_path: pathlib.Path,
    module: str,
    manager: str,
) -> None:
    expected = left_out(module, manager=manager, bindings="newest" if bindings else "pinned")
    ended = run(["-c", RUN, f"numba.cuda.tests.{module}"], libraries, bindings, tmp_path, manager)
    outcomes = [(f"{cls}.{test}", outcome) for test, cls, outcome in OUTCOME.findall(ended.stderr)]
    failed = {name for name, outcome in outcomes if outcome in ("FAIL", "ERROR")}
    assert outcomes, ended.stderr
    assert failed == expected, ended.stderr
    assert (ended.returncode == 0) is (not expected), ended.stderr


def test_cuda_core_alone(
    libraries: pathlib.Path, bindings: list[pathlib.Path], tmp_path: pathlib.Path
) -> None:
    ended = run(["-c", BUFFER], libraries, bindings, tmp_path)
    assert ended.returncode == 0, ended.stderr
    home = bindings[0] if bindings else pathlib.Path(sys.prefix)
    assert pathlib.Path(ended.stdout.strip()).is_relative_to(home)
