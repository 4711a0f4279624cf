"""The worker's tables of operations: the fixtures' are there, and others are reported."""

import json
import os
import pathlib
import subprocess
import sys
from collections import defaultdict
from typing import Any

import pytest
import yaml
from harness import ROOT, Worker

CASES = ROOT / "fixtures/cases"
#: Side -> the operations of cases that need a shared library: calls of a C table, and a call
#: that is stopped between two instructions.
NATIVE = {
    "emm": {"call"},
    "nep49": {"interleave"},
    "place": {
        "context_of",
        "describe",
        "free_address",
        "free_null",
        "host_buffer",
        "interleave",
        "last_error",
        "release",
        "used",
    },
}
#: Prints side -> side of the operations -> the operations in its table.
TABLES = """
import json
from allocert.worker import registry

tables = {}
for side in registry.FOLDERS:
    kinds = registry.load(side).case_kinds
    tables[side] = {operations: sorted(kind.operations) for operations, kind in kinds.items()}
print(json.dumps(tables))
"""


@pytest.fixture(scope="module")
def tables(libraries: pathlib.Path) -> dict[str, dict[str, list[str]]]:
    ended = subprocess.run(
        [sys.executable, "-c", TABLES],
        env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, dict[str, list[str]]] = json.loads(ended.stdout)
    return found


def operations_of_fixtures() -> dict[tuple[str, str], set[str]]:
    """(side, side of the operations) -> the operations that the steps of its fixtures name."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in CASES.rglob("*.yaml"):
        side = path.relative_to(CASES).parts[0]
        case: dict[str, Any] = yaml.safe_load(path.read_text())
        for step in case["steps"]:
            found[side, case.get("operations", side)].update(names_of(step, case.get("axes", {})))
    return found


def names_of(step: dict[str, Any], axes: dict[str, list[str]]) -> list[str]:
    """The operation of a step, or all that an axis puts in its place."""
    name = next(iter(step["do"]))
    return axes[name[1:]] if name.startswith("$") else [name]


def test_every_operation_of_the_fixtures_is_in_the_table_of_its_side(
    tables: dict[str, dict[str, list[str]]],
) -> None:
    used = operations_of_fixtures()
    assert {"emm", "emm-host", "cai-producer", "cai-consumer"} <= {side for side, _ in used}
    missing = {
        (side, operations): names - set(tables[side][operations]) - NATIVE.get(side, set())
        for (side, operations), names in used.items()
        if side in tables
    }
    assert not any(missing.values()), missing


FOREIGN = {"do": {"produce": {"shape": [1], "as": "a"}}}


@pytest.mark.parametrize("operations", ["emm", "emm-host", "cai-consumer", "nobody"])
def test_an_operation_that_the_side_lacks_is_reported(worker: Worker, operations: str) -> None:
    worker.load("allocert_mutants.emm.conforming_plugin:Manager")
    outcomes, ended = worker.run(FOREIGN, operations=operations)
    assert outcomes == [{"unsupported": {"operation": "produce"}}]
    assert ended["exit"] == {"code": 0}
