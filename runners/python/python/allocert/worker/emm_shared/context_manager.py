"""Enters and leaves a context manager as a `with` statement does, in two separate steps."""

from typing import Any

from ..case import Case
from ..operations import Facts
from ..safe_text import type_name


class LeaveEarly(Exception):
    """Leaves a block through an exception, because the case asks for it."""


def enter(case: Case, name: str, scope: Any) -> Facts:
    """Enters the scope and binds it to the name."""
    type(scope).__enter__(scope)
    case.bindings.bind(name, scope)
    return {"type": type_name(scope)}


def leave(case: Case, name: str, raising: bool) -> Facts:
    """Leaves the scope of that name, with an exception if `raising`.

    The facts say whether the scope swallowed the exception.
    """
    scope = case.bindings.get(name)
    if not raising:
        type(scope).__exit__(scope, None, None, None)
        return {"type": type_name(scope), "swallowed": False}
    try:
        raise LeaveEarly("leaving the block through an exception")
    except LeaveEarly as error:
        return {"type": type_name(scope), "swallowed": _swallows(scope, error)}


def _swallows(scope: Any, error: LeaveEarly) -> bool:
    """Whether `__exit__` returns true. A scope that raises the exception again swallows nothing."""
    try:
        return bool(type(scope).__exit__(scope, type(error), error, error.__traceback__))
    except LeaveEarly:
        return False
