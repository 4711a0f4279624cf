"""The side `place`: the subject is an object that allocates memory by place, without a C table."""

from ..interface import CaseKind, Interface


def load() -> Interface:
    """Imports all operations. The library of an ABI is imported by its subjects alone."""
    from .. import context_operations
    from ..operations import merged
    from . import memory_operations, operations
    from .case import AllocatorCase
    from .subject import AllocatorSubject

    performed = merged(
        operations.OPERATIONS, memory_operations.OPERATIONS, context_operations.OPERATIONS
    )
    return Interface(
        distributions=("cuda-core", "cuda-bindings", "numpy"),
        subject=AllocatorSubject,
        case_kinds={"place": CaseKind(AllocatorCase, performed)},
    )
