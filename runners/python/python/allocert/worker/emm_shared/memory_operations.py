"""The operations on memory that a name stands for, whoever made it."""

from ..operations import Arguments, Facts, OperationTable
from . import transfer
from .case import NumbaCase

OPERATIONS: OperationTable[NumbaCase] = OperationTable()


@OPERATIONS.register
def host_buffer(case: NumbaCase, _on: str, arguments: Arguments) -> Facts:
    buffer = transfer.HostBuffer(arguments["size"], arguments.get("offset", 0))
    case.bindings.bind(arguments["as"], buffer)
    return {"host_pointer": buffer.host_pointer, "size_bytes": buffer.size}


@OPERATIONS.register
def fill(case: NumbaCase, _on: str, arguments: Arguments) -> None:
    memory = case.bindings.get(arguments["memory"])
    offset, size_bytes = arguments.get("offset", 0), arguments.get("size")
    transfer.fill(case.driver, memory, arguments["byte"], offset, size_bytes)


@OPERATIONS.register
def read(case: NumbaCase, _on: str, arguments: Arguments) -> Facts:
    memory = case.bindings.get(arguments["memory"])
    offset, by_device = arguments.get("offset", 0), arguments.get("device", False)
    return transfer.read(case.driver, memory, offset, arguments.get("size"), by_device)
