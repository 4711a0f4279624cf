"""The side `cai-producer`: the subject makes arrays, and the worker is their consumer."""

from ..interface import CaseKind, Interface


def load() -> Interface:
    """Imports all operations, and makes the bundled adapters importable."""
    from .. import context_operations, process_operations
    from ..cai_shared import DISTRIBUTIONS, adapter_import, shared_operations
    from ..cai_shared.case import AdapterCase
    from ..operations import merged
    from . import producer_operations
    from .subject import ProducerSubject

    adapter_import.make_adapters_importable()
    operations = merged(
        process_operations.OPERATIONS,
        context_operations.OPERATIONS,
        shared_operations.OPERATIONS,
        producer_operations.OPERATIONS,
    )
    return Interface(
        distributions=DISTRIBUTIONS,
        subject=ProducerSubject,
        case_kinds={"cai-producer": CaseKind(AdapterCase, operations)},
    )
