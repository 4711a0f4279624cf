"""The verdicts and findings of a run as data.

`document` reads what ``allocert report --format json`` writes. The texts in it have no control
characters: the program has written them out.
"""

import dataclasses
import enum
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from .errors import AllocertError

#: The version of the document that this module reads (`FORMAT` in report/json.rs).
FORMAT = 1

#: The largest document that is read. A run of all cases of a side has less than 1 MB.
LIMIT_BYTES = 256 << 20


class Verdict(str, enum.Enum):
    """The verdict on one case (ARCHITECTURE.md, Words)."""

    CONFORMS = "conforms"
    VIOLATES = "violates"
    NOT_APPLICABLE = "not-applicable"
    NOT_OBSERVED = "not-observed"
    UNUSABLE = "unusable"
    HARNESS_ERROR = "harness-error"
    EXPECTED_VIOLATION = "expected-violation"
    UNEXPECTED_CONFORMANCE = "unexpected-conformance"


@dataclasses.dataclass(frozen=True, slots=True)
class Exit:
    """What a run comes to: the exit code of the program, and its meaning in words."""

    code: int
    meaning: str


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One violation of a requirement."""

    #: The id of the requirement, its level (MUST, SHOULD or MAY) and what it demands.
    requirement: str
    level: str
    statement: str
    #: The id of the case.
    case: str
    #: Where the fixture states the requirement; `allocert show CASE` prints the file.
    file: str
    line: int
    #: The step of the case that violates it, and the operation of that step, if it is a step.
    step: int | None
    operation: str | None
    expected: str
    observed: str
    #: The reason that the expectation file gives, if it lists the violation.
    listed_because: str | None
    #: Where the exception of the step passed, the outermost frame first.
    traceback: tuple[str, ...]
    #: The calls that show the violation, a line each.
    calls: tuple[str, ...]

    @property
    def message(self) -> str:
        """What was expected and what was observed, in one line."""
        return f"expected {self.expected}; observed {self.observed}"


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One case of a run, with its verdict."""

    id: str
    #: What the case is about, in one line.
    about: str
    #: The fixture.
    file: str
    verdict: Verdict
    #: Whether the case ends the run with another exit code than 0.
    fails_run: bool
    #: Why there is no result, or why the result is what it is; None for conforms and violates.
    reason: str | None
    duration_ms: int | None
    #: What the report of `allocert run` says of the case; empty if nothing was found in it.
    report: str
    findings: tuple[Finding, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """A judged run."""

    side: str
    subject: str
    profile: str | None
    #: `sim` or `real`.
    driver: str
    #: The version of allocert that made the run, and the hash of its suite.
    allocert: str
    suite: str
    exit: Exit
    #: By id, in the order of the suite. A fault sweep adds only the injections with a finding.
    cases: Mapping[str, Case]
    #: How many injections of a fault sweep have no finding.
    swept_without_finding: int
    #: The run file, if it was kept.
    path: pathlib.Path | None

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0: what was found and what was not observed is listed."""
        return self.exit.code == 0

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each case, by the id of the case."""
        return {case.id: case.verdict for case in self.cases.values()}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all cases."""
        return tuple(finding for case in self.cases.values() for finding in case.findings)


def document(file: pathlib.Path, run_file: pathlib.Path | None) -> Run:
    """Reads a document that the program wrote. Raises AllocertError if it is another one."""
    size_bytes = os.stat(file).st_size
    if size_bytes > LIMIT_BYTES:
        raise _unreadable(f"it has {size_bytes} bytes, and {LIMIT_BYTES} are read")
    try:
        body = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise _unreadable(f"it is no JSON: {error}") from None
    found = body.get("format") if isinstance(body, dict) else None
    if found != FORMAT:
        raise _unreadable(f"it has the format {found!r}, and this package reads {FORMAT}")
    try:
        return _run(body, run_file)
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(f"{type(error).__name__}: {error}") from None


def _unreadable(reason: str) -> AllocertError:
    return AllocertError(
        f"the report of the program cannot be read: {reason}. The program and the Python package"
        " are of different versions: install allocert again",
        3,
    )


def _run(body: dict[str, Any], run_file: pathlib.Path | None) -> Run:
    about, end = body["run"], body["exit"]
    return Run(
        side=_of(str, about["side"]),
        subject=_of(str, about["subject"]),
        profile=_or_none(str, about["profile"]),
        driver=_of(str, about["driver"]),
        allocert=_of(str, about["allocert"]),
        suite=_of(str, about["suite"]),
        exit=Exit(_of(int, end["code"]), _of(str, end["meaning"])),
        cases={case["id"]: _case(case) for case in body["cases"]},
        swept_without_finding=_of(int, body["swept_without_finding"]),
        path=run_file,
    )


def _case(body: dict[str, Any]) -> Case:
    name = _of(str, body["id"])
    return Case(
        id=name,
        about=_of(str, body["about"]),
        file=_of(str, body["file"]),
        verdict=Verdict(body["verdict"]),
        fails_run=_of(bool, body["fails_run"]),
        reason=_or_none(str, body.get("reason")),
        duration_ms=_or_none(int, body.get("duration_ms")),
        report=_of(str, body.get("report", "")),
        findings=tuple(_finding(name, finding) for finding in body.get("findings", ())),
    )


def _finding(case: str, body: dict[str, Any]) -> Finding:
    return Finding(
        requirement=_of(str, body["requirement"]),
        level=_of(str, body["level"]),
        statement=_or_none(str, body["statement"]) or "",
        case=case,
        file=_of(str, body["file"]),
        line=_of(int, body["line"]),
        step=_or_none(int, body["step"]),
        operation=_or_none(str, body["operation"]),
        expected=_of(str, body["expected"]),
        observed=_of(str, body["observed"]),
        listed_because=_or_none(str, body["listed_because"]),
        traceback=tuple(_of(str, frame) for frame in body["traceback"]),
        calls=tuple(_of(str, call) for call in body["calls"]),
    )


def _of(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _or_none(kind: type, value: Any) -> Any:
    return None if value is None else _of(kind, value)
