"""The operations on the memory of blocks, and on streams and memory of the worker."""

from ..operations import Arguments, Facts, OperationTable
from .case import AllocatorCase

OPERATIONS: OperationTable[AllocatorCase] = OperationTable()


@OPERATIONS.register
def occupy(case: AllocatorCase, _on: str, arguments: Arguments) -> Facts:
    size = arguments["size"]
    case.occupied[arguments["as"]] = case.memory.occupy(arguments["device"], size)
    return {"size_bytes": size}


@OPERATIONS.register
def stream(case: AllocatorCase, _on: str, arguments: Arguments) -> None:
    case.streams[arguments["as"]] = case.memory.new_stream(arguments["device"])


@OPERATIONS.register
def queue_fill(case: AllocatorCase, _on: str, arguments: Arguments) -> None:
    block, on = case.block(arguments["memory"]), case.stream(arguments["stream"])
    case.memory.queue_fill(block.place, block.address, block.size_bytes, arguments["byte"], on)


@OPERATIONS.register
def synchronize(case: AllocatorCase, _on: str, arguments: Arguments) -> None:
    case.memory.synchronize(case.stream(arguments["stream"]))


@OPERATIONS.register
def fill(case: AllocatorCase, _on: str, arguments: Arguments) -> None:
    block = case.block(arguments["memory"])
    address, size_bytes = _range(block.address, block.size_bytes, arguments)
    case.memory.fill(block.place, address, size_bytes, arguments["byte"])


@OPERATIONS.register
def read(case: AllocatorCase, _on: str, arguments: Arguments) -> Facts:
    block = case.block(arguments["memory"])
    address, size_bytes = _range(block.address, block.size_bytes, arguments)
    uniform = case.memory.uniform_byte(block.place, address, size_bytes)
    return {"uniform": uniform, "bytes_read": size_bytes}


def _range(address: int, whole_bytes: int, arguments: Arguments) -> tuple[int, int]:
    """The bytes of a block from `offset` on: `size` of them, or all."""
    offset, size = arguments.get("offset", 0), arguments.get("size")
    return address + offset, max(whole_bytes - offset, 0) if size is None else size
