"""Hostile subjects: allocert says of each what it is, and leaves nothing behind."""

import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
import zoo
from conftest import MUTANTS
from runfile import findings
from zoo import Row

_SOURCE = pathlib.Path(__file__).parent / "zoo.c"
_PR_SET_CHILD_SUBREAPER = 36

#: Seconds for the case, for allocert, and for the system to end what was killed.
_CASE_S, _PROGRAM_S, _GONE_S = 1, 120, 30

#: What a terminal obeys, what a CI service takes for a command, and errors of allocert's own.
_FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u2028-\u202e\ufeff]|^\s*::|##vso\[|##\[|panicked at"
    r"|^\s*File .*allocert_worker",
    re.MULTILINE,
)

#: Compiles zoo.c with what it does while it is loaded.
Compile = Callable[[str], pathlib.Path]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compiles zoo.c, once for each definition of ON_LOAD."""
    folder, made = tmp_path_factory.mktemp("zoo"), dict[str, pathlib.Path]()

    def compiled(on_load: str) -> pathlib.Path:
        if on_load not in made:
            path = made[on_load] = folder / f"zoo-{len(made)}.so"
            options = [f"-DON_LOAD={on_load}"] if on_load else []
            command: list[str | pathlib.Path]
            command = ["cc", "-shared", "-fPIC", "-w", *options, "-o", path, _SOURCE, "-lpthread"]
            subprocess.run(command, check=True)
        return made[on_load]

    return compiled


@pytest.fixture
def adopted() -> Iterator[None]:
    """This process becomes the parent of all that allocert leaves behind."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    yield
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.mark.parametrize("row", zoo.ROWS, ids=lambda row: row.name)
def test_a_hostile_subject_has_its_outcome(
    row: Row, library: Compile, adopted: None, binaries: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    ended = _run(row, library, binaries / "allocert", tmp_path)
    left = _end_children()
    printed = (ended.stdout + b"\n" + ended.stderr).decode()
    assert (ended.returncode, _first_requirement(tmp_path)) == row.outcome[:2], printed
    assert row.outcome.says in printed
    assert not _FORBIDDEN.search(printed), printed
    assert left == []
    assert row.leaves_files or not any((tmp_path / "empty").iterdir())


def test_the_zoo_has_forty_subjects_and_each_once() -> None:
    names = [row.name for row in zoo.ROWS]
    assert len(names) >= 40 and len(set(names)) == len(names)
    sides = {row.side for row in zoo.ROWS}
    assert sides >= {"emm", "emm-host", "cai-producer", "cai-consumer", "nep49", "place"}


def _run(
    row: Row, library: Compile, program: pathlib.Path, folder: pathlib.Path
) -> subprocess.CompletedProcess[bytes]:
    """Runs the case of a row in a folder that holds nothing else."""
    for name in ("modules", "empty"):
        (folder / name).mkdir()
    (folder / "modules/subject.py").write_text(row.module)
    subject = row.subject
    if "{library}" in subject:
        subject = subject.format(library=library(row.on_load))
    options = ["--python", sys.executable, "--filter", row.cases, "--timeout", str(_CASE_S)]
    search = os.pathsep.join(map(str, (folder / "modules", MUTANTS)))
    return subprocess.run(
        [program, "run", row.side, subject, *options, *row.options, "--out", folder / "run.jsonl"],
        cwd=folder / "empty",
        env=dict(os.environ, PYTHONPATH=search, TMPDIR=str(folder / "empty")),
        capture_output=True,
        timeout=_PROGRAM_S,
        check=False,
    )


def _first_requirement(folder: pathlib.Path) -> str | None:
    """The requirement of the first violation of a MUST, if there is a run file."""
    run_file = folder / "run.jsonl"
    if not run_file.exists():
        return None
    musts = [
        finding["requirement"]
        for found in findings(run_file).values()
        for finding in found
        if finding["level"].upper() == "MUST"
    ]
    return musts[0] if musts else None


def _end_children() -> list[str]:
    """The commands of the processes that go on; it ends them.

    A process that was killed may take a moment to end.
    """
    until = time.monotonic() + _GONE_S
    while (running := _children()) and time.monotonic() < until:
        time.sleep(0.02)
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    return list(running.values())


def _children() -> dict[int, str]:
    """The running children of this process by their numbers, without those that have ended."""
    found = {}
    own = pathlib.Path("/proc/self/task") / str(os.getpid()) / "children"
    for pid in map(int, own.read_text().split()):
        if os.waitpid(pid, os.WNOHANG)[0] == 0:
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            found[pid] = command.replace(b"\0", b" ").decode(errors="replace")
    return found
