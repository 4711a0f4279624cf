"""Reads a run file (`--out`) as far as the tests need it."""

import json
import pathlib
from collections.abc import Iterator
from typing import Any


def lines(path: pathlib.Path, kind: str) -> Iterator[dict[str, Any]]:
    """The bodies of all lines of a kind."""
    with path.open(encoding="utf-8") as text:
        written = list(text)  # a line ends with a newline alone, and not with U+2028
    for line in written:
        ((found, body),) = json.loads(line).items()
        if found == kind:
            yield body


def verdicts(path: pathlib.Path) -> dict[str, str]:
    """Case id -> the name of its verdict: `conforms`, `violates`, `not_applicable`, ..."""
    found = {}
    for body in lines(path, "verdict"):
        verdict = body["verdict"]
        found[body["case"]] = verdict if isinstance(verdict, str) else next(iter(verdict))
    return found


def findings(path: pathlib.Path) -> dict[str, list[dict[str, Any]]]:
    """Case id -> its findings."""
    return {body["case"]: body.get("findings", []) for body in lines(path, "verdict")}
