"""Runs the program and gives its results as data.

run = allocert.run("emm", "mylib.numba_plugin:Manager")
assert run.ok, [finding.message for finding in run.findings]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from . import program, results
from .errors import AllocertError
from .results import Run

#: A path, as functions of the standard library take it.
PathLike = str | os.PathLike[str]

#: Characters of the program's error message that are kept.
_MESSAGE_LIMIT = 16384

#: How long the program may take to end its workers when this process is interrupted.
_END_TIMEOUT_S = 10


def run(
    side: str,
    subject: str,
    *,
    profile: str | None = None,
    filter: str | None = None,
    expect: PathLike | None = None,
    allow_not_observed: bool = False,
    driver: str = "sim",
    python: PathLike | None = None,
    abi: str | None = None,
    isolation: str | None = None,
    faults: bool | str = False,
    jobs: int | None = None,
    timeout: int | None = None,
    out: PathLike | None = None,
    path: Sequence[PathLike] = (),
) -> Run:
    """Runs the cases of a side on a subject, and judges them.

    The arguments are those of ``allocert run``; `faults` is True or the name of a width, and
    `timeout` is in seconds. The subject runs in the interpreter `python`, which is by default the
    one of this process. It finds modules in the current directory, in the folders of `path`, and
    where that interpreter finds them. The run file is kept if `out` names it.

    Violations are no error: look at `Run.exit`, `Run.verdicts` and `Run.findings`. Raises
    AllocertError if there are no verdicts, because an argument is wrong, the subject cannot be
    loaded or no case is selected.
    """
    options: dict[str, object | None] = {
        "--profile": profile,
        "--filter": filter,
        "--expect": _path(expect),
        "--driver": driver,
        "--python": _path(python),
        "--abi": abi,
        "--isolation": isolation,
        "--jobs": jobs,
        "--timeout": timeout,
    }
    given = [f"{name}={value}" for name, value in options.items() if value is not None]
    if allow_not_observed:
        given.append("--allow-not-observed")
    if faults:
        given.append("--faults" if faults is True else f"--faults={faults}")
    with tempfile.TemporaryDirectory(prefix="allocert-") as folder:
        temporary = pathlib.Path(folder) / "run.jsonl"
        run_file = temporary if out is None else pathlib.Path(out)
        # A file that is there already keeps its content if the run is refused.
        before = _stamp(run_file)
        code, message = _call(["run", *given, f"--out={run_file}", "--", side, subject], path)
        if _stamp(run_file) in (None, before) or not run_file.stat().st_size:
            raise AllocertError(message, code)
        return _report(run_file, None if out is None else run_file)


def read(run_file: PathLike) -> Run:
    """Reads a run file that ``allocert run --out`` or `run` wrote.

    Raises AllocertError if it is no complete run file of this version of allocert.
    """
    path = pathlib.Path(run_file)
    return _report(path, path)


def cases(side: str, profile: str | None = None) -> list[str]:
    """The ids of all cases of a side; with a profile, only of those that it has.

    Raises AllocertError if there is no such side or profile.
    """
    chosen = [] if profile is None else [f"--profile={profile}"]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as listing:
        code, message = _call(["list", *chosen, "--", side], stdout=listing.fileno())
        if code:
            raise AllocertError(message, code)
        listing.seek(0)
        names = [line.split(maxsplit=1)[0] for line in listing if line.strip()]
    # `emm` is the name of an interface too, whose other side is emm-host.
    found = [name for name in names if name.startswith(f"{side}/")]
    if not found:
        raise AllocertError(f"there is no side `{side}`; `allocert run --help` lists them", 2)
    return found


def _path(path: PathLike | None) -> str | None:
    return None if path is None else os.fspath(path)


def _stamp(path: pathlib.Path) -> tuple[int, int, int] | None:
    """What tells whether a file was written, or None if there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # ValueError: a path with a NUL
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _report(run_file: pathlib.Path, kept: pathlib.Path | None) -> Run:
    with tempfile.TemporaryDirectory(prefix="allocert-") as folder:
        report = pathlib.Path(folder) / "report.json"
        code, message = _call(["report", "--format=json", f"--out={report}", "--", str(run_file)])
        if code:
            raise AllocertError(message, code)
        return results.document(report, kept)


def _call(
    arguments: Sequence[str], path: Sequence[PathLike] = (), stdout: int = subprocess.DEVNULL
) -> tuple[int, str]:
    """Runs the program. Returns its exit code and what it wrote to stderr."""
    executable = program.executable()
    environment = program.environment(sys.executable)
    search = [*(os.fspath(folder) for folder in path), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, search))
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            process = subprocess.Popen(
                [executable, *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=said,
            )
        except ValueError as error:  # a NUL, or a character that the system cannot encode
            reason = f"no program can be given an argument or a path of `path` like this: {error}"
            raise AllocertError(reason, 2) from None
        code = _wait(process)
        said.seek(0)
        message = said.read(_MESSAGE_LIMIT).strip().removeprefix("allocert: ")
    if code < 0:
        return 3, message or f"the program was ended by signal {-code}"
    return code, message or f"the program ended with exit code {code}"


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Waits for the program. It ends its workers itself if this process is interrupted."""
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        try:
            process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
