"""How a step ended, as an OUTCOME of runners/PROTOCOL.md."""

import os
import pathlib
import sys
import traceback
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .protocol import Outcome
from .safe_access import read_attribute
from .safe_text import bounded, class_name, class_names, type_name

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


#: Frames of files in this folder are the worker's own.
_WORKER = str(pathlib.Path(__file__).parent) + os.sep
_CUDA_ERROR_OUT_OF_MEMORY = 2
#: So many frames of a traceback are reported, the last ones.
_FRAMES = 16


class Missing(Exception):
    """A step uses a name that an earlier step failed to bind; the argument is the name."""


class Declined(Exception):
    """The subject cannot do what a step asks for; the argument is the reason."""


class UnusableSubject(Exception):
    """Nobody could call this subject. The judge knows the name."""


class DriverError(Exception):
    """A driver call that the worker made for a step failed."""

    def __init__(self, call: str, code: int) -> None:
        super().__init__(f"{call} answered CUresult {code}")
        self.code = code


def raised(error: BaseException) -> Outcome:
    """Describes an exception and clears the frames that it holds.

    The frames would keep the subject's objects alive longer than the subject does.
    """
    described = {
        "type": class_name(type(error)),
        "bases": class_names(type(error)),
        "message": bounded(error),
        "code": _code(error),
        "status": None,
    }
    frames = _frames(error)
    if frames:
        described["traceback"] = frames
    _clear_frames(error)
    return {"raised": described}


def _frames(error: BaseException) -> list[str]:
    """Where the exception passed, the place that raised it last: `plugin.py:12 in memalloc`.

    The worker's own frames are left out.
    """
    frames = []
    trace: TracebackType | None = _own_attribute(error, "__traceback__")
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_WORKER):
            name = getattr(code, "co_qualname", code.co_name)  # co_qualname: Python 3.11
            frames.append(f"{code.co_filename}:{trace.tb_lineno} in {name}")
        trace = trace.tb_next
    return [bounded(frame, 400) for frame in frames[-_FRAMES:]]


def says_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory is short, in Python's way or in the driver's."""
    return issubclass(type(error), MemoryError) or _code(error) == _CUDA_ERROR_OUT_OF_MEMORY


def _code(error: BaseException) -> int | None:
    """The CUresult that an exception carries, if any."""
    if isinstance(error, SystemExit):
        return None  # its code is an exit code
    try:
        code = int(error.code)  # type: ignore[attr-defined]
    except BaseException:  # noqa: BLE001 - most have no code, and `code` may be the subject's
        return None
    return code if 0 <= code < 1 << 31 else None


def _clear_frames(error: BaseException | None) -> None:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        traceback.clear_frames(_own_attribute(error, "__traceback__"))
        error = _own_attribute(error, "__cause__") or _own_attribute(error, "__context__")


def _own_attribute(error: BaseException, name: str) -> Any:
    """The attribute as BaseException has it; a class may define another by that name."""
    return BaseException.__dict__[name].__get__(error)


class UnraisableHook:
    """Inside its block, keeps the first exception that Python cannot raise, as a finalizer's.

    Python prints the exception as always, so that standard error stays as a user would see it.
    `outcome` is the exception as an OUTCOME, or None.
    """

    def __init__(self) -> None:
        self.outcome: Outcome | None = None
        self._before = sys.unraisablehook

    def __enter__(self) -> "UnraisableHook":
        self._before = sys.unraisablehook
        sys.unraisablehook = self._hook
        return self

    def __exit__(
        self,
        cls: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.unraisablehook = self._before

    def _hook(self, unraisable: "UnraisableHookArgs") -> None:
        sys.__unraisablehook__(unraisable)
        if self.outcome is None and unraisable.exc_value is not None:
            place = _place(unraisable)  # `raised` clears the frames
            self.outcome = raised(unraisable.exc_value)
            self.outcome["raised"]["ignored_in"] = place


def _place(unraisable: "UnraisableHookArgs") -> str:
    """The function that raised, and the line: `Pool.__del__ (plugin.py, line 12)`."""
    function = unraisable.object
    name = read_attribute(function, "__qualname__")
    named = name if type(name) is str else type_name(function)
    trace = unraisable.exc_traceback
    if trace is None:
        return bounded(named, 200)
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = os.path.basename(trace.tb_frame.f_code.co_filename)
    return bounded(f"{named} ({file}, line {trace.tb_lineno})", 400)
