"""The side `nep49-host`: the subject is NumPy, and the worker is its handler of array data."""

import sys

from ..interface import CaseKind, Interface


def load() -> Interface:
    """Imports all operations. Raises Refused where the handler of the worker is missing."""
    from .. import process_operations
    from ..operations import merged
    from ..refused import Refused

    try:
        from allocert._allocert import RecordingHandler  # noqa: F401 - the other modules need it
    except ImportError as error:
        raise Refused(
            "host",
            f"the handler of the worker is in the package allocert, which {sys.executable} cannot"
            f" import ({error}): install allocert there",
        ) from None
    from . import array_operations, handler_operations, place_operations, unusual_operations
    from .case import HandlerHostCase
    from .subject import HandlerHostSubject

    operations = merged(
        process_operations.OPERATIONS,
        handler_operations.OPERATIONS,
        array_operations.OPERATIONS,
        place_operations.OPERATIONS,
        unusual_operations.OPERATIONS,
    )
    return Interface(
        distributions=("numpy",),
        subject=HandlerHostSubject,
        case_kinds={"nep49-host": CaseKind(HandlerHostCase, operations)},
    )
