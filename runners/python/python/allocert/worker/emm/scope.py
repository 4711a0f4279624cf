"""Entering and leaving a context manager as a `with` statement would, in two separate steps."""

from ..text import type_name


class Leaving(Exception):
    """Leaves a block early, on purpose."""


def enter(case, name, scope):
    type(scope).__enter__(scope)
    case.names.bind(name, scope)
    return {"type": type_name(scope)}


def leave(case, name, raising):
    scope = case.names.get(name)
    if not raising:
        type(scope).__exit__(scope, None, None, None)
        return {"type": type_name(scope), "swallowed": False}
    try:
        raise Leaving("leaving the block through an exception")
    except Leaving as error:
        return {"type": type_name(scope), "swallowed": _leave_with(scope, error)}


def _leave_with(scope, error):
    """Whether the scope swallowed the exception. Raising it again is the long way of not swallowing it."""
    try:
        return bool(type(scope).__exit__(scope, type(error), error, error.__traceback__))
    except Leaving:
        return False
