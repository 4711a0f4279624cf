"""The operations on the CUDA context that is current on the calling thread."""

from .case import Case
from .operations import Arguments, OperationTable

OPERATIONS: OperationTable[Case] = OperationTable()


@OPERATIONS.register
def attach(case: Case, _on: str, arguments: Arguments) -> None:
    case.attach(arguments.get("device", 0))


@OPERATIONS.register
def detach(case: Case, _on: str, _arguments: Arguments) -> None:
    case.detach()
