"""How a step ended, as the protocol's OUTCOME."""

import sys
import traceback

from .text import bounded, class_name, class_names


class Missing(Exception):
    """A step uses a name that an earlier step failed to make."""


class Declined(Exception):
    """The subject has no way to do what a step asks, and says so."""


class DriverError(Exception):
    """A driver call made by the worker for a step failed."""

    def __init__(self, call, code):
        super().__init__(f"{call} answered CUresult {code}")
        self.code = code


def raised(error):
    """Describes an exception, then cuts what it keeps alive, so that it extends no object's life."""
    described = {
        "type": class_name(type(error)),
        "bases": class_names(type(error)),
        "message": bounded(error),
        "code": _code(error),
        "status": None,
    }
    _forget(error)
    return {"raised": described}


def _code(error):
    if isinstance(error, SystemExit):
        return None  # its code is an exit code
    try:
        code = int(error.code)
    except BaseException:  # noqa: BLE001 - most exceptions carry no code, and `code` may be the subject's
        return None
    return code if 0 <= code < 1 << 31 else None


def _forget(error):
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        traceback.clear_frames(_own(error, "__traceback__"))
        error = _own(error, "__cause__") or _own(error, "__context__")


def _own(error, name):
    """The attribute as Python keeps it; a class may have one of its own by that name."""
    return BaseException.__dict__[name].__get__(error)


class Unraisable:
    """While it is entered, the first exception that Python could raise nowhere (a finalizer's) is kept as an outcome.

    It is printed as always: what a user would see on stderr stays there.
    """

    def __enter__(self):
        self.outcome = None
        self._before = sys.unraisablehook
        sys.unraisablehook = self._hook
        return self

    def __exit__(self, *_error):
        sys.unraisablehook = self._before

    def _hook(self, unraisable):
        sys.__unraisablehook__(unraisable)
        if self.outcome is None and unraisable.exc_value is not None:
            self.outcome = raised(unraisable.exc_value)
