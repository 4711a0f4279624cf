"""The operations on memory that a name holds, whoever made it."""

from ..operation import operation
from . import transfer


@operation
def free(case, _on, arguments):
    case.names.get(arguments["name"]).free()


@operation
def fill(case, _on, arguments):
    memory = case.names.get(arguments["memory"])
    transfer.fill(
        case.driver, memory, arguments["byte"], arguments.get("offset", 0), arguments.get("size")
    )


@operation
def read(case, _on, arguments):
    memory = case.names.get(arguments["memory"])
    offset, device = arguments.get("offset", 0), arguments.get("device", False)
    return transfer.uniform(case.driver, memory, offset, arguments.get("size"), device)
