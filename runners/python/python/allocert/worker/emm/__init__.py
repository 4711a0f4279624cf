"""The side `emm`: the subject is a memory manager, called directly or by real numba-cuda."""

from ..interface import CaseKind, Interface


def load() -> Interface:
    """Imports Numba and all operations, so that no child compiles again. Raises Refused."""
    from ..emm_shared import DISTRIBUTIONS, numba_imports

    with numba_imports():
        from .. import context_operations, process_operations
        from ..emm_host import api_operations
        from ..emm_shared import handle_operations, memory_operations
        from ..operations import merged
        from . import describe_operation, manager_operations, reenter_operation, stress_operations
        from .case import InstalledManagerCase, ManagerCase
        from .host_code import HOST_CODE_MARKS
        from .subject import ManagerSubject
        from .text_host import be_true_to_text

        be_true_to_text()
        HOST_CODE_MARKS.set()

    shared = merged(
        process_operations.OPERATIONS,
        memory_operations.OPERATIONS,
        handle_operations.OPERATIONS,
        describe_operation.OPERATIONS,
    )
    direct = merged(
        shared,
        context_operations.OPERATIONS,
        manager_operations.OPERATIONS,
        stress_operations.OPERATIONS,
        reenter_operation.OPERATIONS,
    )
    return Interface(
        distributions=DISTRIBUTIONS,
        subject=ManagerSubject,
        counts_native_threads=True,
        case_kinds={
            "emm": CaseKind(ManagerCase, direct),
            "emm-host": CaseKind(InstalledManagerCase, merged(shared, api_operations.OPERATIONS)),
        },
    )
