"""The side `cai-consumer`: the subject takes arrays, and the worker is their producer."""

from ..interface import CaseKind, Interface


def load() -> Interface:
    """Imports all operations, and makes the bundled adapters importable."""
    from .. import context_operations, process_operations
    from ..cai_shared import DISTRIBUTIONS, adapter_import, shared_operations
    from ..cai_shared.case import AdapterCase
    from ..operations import merged
    from . import consumer_operations
    from .subject import ConsumerSubject

    adapter_import.make_adapters_importable()
    operations = merged(
        process_operations.OPERATIONS,
        context_operations.OPERATIONS,
        shared_operations.OPERATIONS,
        consumer_operations.OPERATIONS,
    )
    return Interface(
        distributions=DISTRIBUTIONS,
        subject=ConsumerSubject,
        case_kinds={"cai-consumer": CaseKind(AdapterCase, operations)},
    )
