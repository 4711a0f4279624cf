"""The side `emm-host`: the subject is the host, and the worker is its plugin."""

from ..interface import CaseKind, Interface


def load() -> Interface:
    """Imports Numba and all operations, so that no child compiles again. Raises Refused."""
    from ..emm_shared import DISTRIBUTIONS, numba_imports

    with numba_imports():
        from .. import process_operations
        from ..emm_shared import handle_operations, memory_operations
        from ..operations import merged
        from . import api_operations, host_operations, ipc_operations
        from .case import HostCase
        from .subject import HostSubject

    operations = merged(
        process_operations.OPERATIONS,
        memory_operations.OPERATIONS,
        handle_operations.OPERATIONS,
        api_operations.OPERATIONS,
        host_operations.OPERATIONS,
        ipc_operations.OPERATIONS,
    )
    return Interface(
        distributions=DISTRIBUTIONS,
        subject=HostSubject,
        case_kinds={"emm-host": CaseKind(HostCase, operations)},
    )
