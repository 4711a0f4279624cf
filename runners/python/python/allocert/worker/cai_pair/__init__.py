"""Two libraries in one process: the consumer takes arrays of the producer. It certifies neither."""

from ..interface import CaseKind, Interface


def load() -> Interface:
    """Imports the operations of both sides, and makes the bundled adapters importable."""
    from .. import context_operations, process_operations
    from ..cai_consumer import consumer_operations
    from ..cai_producer import producer_operations
    from ..cai_shared import DISTRIBUTIONS, adapter_import, shared_operations
    from ..operations import merged
    from .case import PairCase
    from .subject import PairSubject

    adapter_import.make_adapters_importable()
    operations = merged(
        process_operations.OPERATIONS,
        context_operations.OPERATIONS,
        shared_operations.OPERATIONS,
        producer_operations.OPERATIONS,
        consumer_operations.OPERATIONS,
    )
    kind = CaseKind(PairCase, operations)
    return Interface(
        distributions=DISTRIBUTIONS,
        subject=PairSubject,
        case_kinds={"cai-producer": kind, "cai-consumer": kind},
    )
