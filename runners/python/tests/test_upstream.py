"""numba-cuda's own tests on the software driver: with Numba's manager, and with the reference pool as the plugin."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

MODULES = json.loads((pathlib.Path(__file__).parent / "upstream.json").read_text())["modules"]
#: `test (module.Class.test)`, on the next line perhaps the first line of its documentation, ` ... ` and the outcome.
OUTCOME = re.compile(r"^(test\w+) \([\w.]+\.(\w+)\.test\w+\)(?:\n.*)? \.\.\. (ok|FAIL|ERROR|skipped.*)$", re.MULTILINE)


def run_upstream(libraries, folder, module, manager):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(libraries), NUMBA_CUDA_MEMORY_MANAGER=manager)
    command = [sys.executable, "-m", "unittest", "-v", f"numba.cuda.tests.cudadrv.{module}"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("manager", ["default", "allocert.numba"])
@pytest.mark.parametrize("module", MODULES)
def test_upstream(libraries, tmp_path, module, manager):
    left_out = dict(MODULES[module].get("left_out", {}))
    if manager != "default":
        left_out |= MODULES[module].get("left_out_with_a_plugin", {})
    ended = run_upstream(libraries, tmp_path, module, manager)
    outcomes = {f"{cls}.{test}": outcome for test, cls, outcome in OUTCOME.findall(ended.stderr)}
    failed = {name for name, outcome in outcomes.items() if outcome in ("FAIL", "ERROR")}
    assert outcomes, ended.stderr
    assert failed == set(left_out), ended.stderr
    assert (ended.returncode == 0) is (not left_out), ended.stderr
