"""The side `nep49`: the subject is a handler of NumPy's data allocation."""

from ..interface import CaseKind, Interface


def load() -> Interface:
    """Imports all operations. NumPy is needed only by some of the cases."""
    from ..operations import merged
    from . import gil_watch, numpy_operations, operations
    from .case import HandlerCase
    from .subject import HandlerSubject

    # NumPy starts the threads of its BLAS now, before those of a subject are counted.
    gil_watch.WATCH.begin()
    performed = merged(operations.OPERATIONS, numpy_operations.OPERATIONS)
    return Interface(
        distributions=("numpy",),
        subject=HandlerSubject,
        case_kinds={"nep49": CaseKind(HandlerCase, performed)},
        counts_native_threads=True,
    )
