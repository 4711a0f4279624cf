"""The operations that call the functions of a handler."""

from .. import checked_memory, churn_and_stress, process_operations
from ..operations import Arguments, Facts, OperationTable
from ..outcome import Declined
from . import guessed_size, rounds
from .case import HandlerCase

OPERATIONS: OperationTable[HandlerCase] = OperationTable()
OPERATIONS.register(process_operations.environment)

_LARGEST_SIZE = 2**64 - 1


@OPERATIONS.register
def describe(case: HandlerCase, _on: str, _arguments: Arguments) -> Facts:
    return {**case.subject.handler.describe(), "capsule_name": case.subject.capsule_name}


@OPERATIONS.register
def malloc(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    size = arguments["size"]
    return case.bind(arguments["as"], case.calls.malloc(size), size)


@OPERATIONS.register
def calloc(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    nelem, elsize = arguments["nelem"], arguments["elsize"]
    address = case.calls.calloc(nelem, elsize)
    return case.bind(arguments["as"], address, min(nelem * elsize, _LARGEST_SIZE))


@OPERATIONS.register
def realloc(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return _realloc(case, arguments["block"], arguments["size"], arguments["as"])


@OPERATIONS.register
def realloc_too_much(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return _realloc(case, arguments["block"], arguments["size"], arguments["block"])


def _realloc(case: HandlerCase, block: str, size: int, name: str) -> Facts:
    """Where null comes back the old block stays under its name."""
    address = case.calls.realloc(case.block(block).address, size)
    if address:
        case.take(block)
    return case.bind(name, address, size)


@OPERATIONS.register
def realloc_null(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    size = arguments["size"]
    return case.bind(arguments["as"], case.calls.realloc(0, size), size)


@OPERATIONS.register
def drop(case: HandlerCase, _on: str, arguments: Arguments) -> None:
    name = arguments["name"]
    if name in case.arrays:
        del case.arrays[name]
    else:
        case.calls.free(*case.take(name))


@OPERATIONS.register
def free_with_size(case: HandlerCase, _on: str, arguments: Arguments) -> None:
    case.calls.free(case.take(arguments["block"]).address, arguments["size"])


@OPERATIONS.register
def free_null(case: HandlerCase, _on: str, arguments: Arguments) -> None:
    case.calls.free(0, arguments["size"])


@OPERATIONS.register
def fill(case: HandlerCase, _on: str, arguments: Arguments) -> None:
    address, size_bytes = _range(case, arguments)
    try:
        checked_memory.fill(address, size_bytes, arguments["byte"])
    except checked_memory.MemoryFault:
        # What a later step reads there would be blamed on another function.
        case.take(arguments["memory"])
        raise


@OPERATIONS.register
def read(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    address, size_bytes = _range(case, arguments)
    uniform = checked_memory.uniform_byte(address, size_bytes)
    return {"uniform": uniform, "bytes_read": size_bytes}


def _range(case: HandlerCase, arguments: Arguments) -> tuple[int, int]:
    """The bytes of a block from `offset` on: `size` of them, or all."""
    block, offset = case.block(arguments["memory"]), arguments.get("offset", 0)
    size = arguments.get("size")
    rest = max(block.size_bytes - offset, 0)
    return block.address + offset, rest if size is None else size


@OPERATIONS.register
def sparse_block(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    size = arguments["size"]
    return case.bind(arguments["as"], rounds.sparse_block(case.calls, arguments["by"], size), size)


@OPERATIONS.register
def churn(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return churn_and_stress.churn(
        case.source, arguments["size"], arguments["times"], arguments["hold"]
    )


@OPERATIONS.register
def stress(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return churn_and_stress.stress(
        case.source, arguments["threads"], arguments["size"], arguments["times"]
    )


@OPERATIONS.register
def free_guessed(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return guessed_size.free_guessed(
        case.calls, arguments["size"], arguments["guess"], arguments["blocks"]
    )


@OPERATIONS.register
def guessed_rounds(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return guessed_size.guessed_rounds(
        case.calls, case.source, arguments["size"], arguments["guess"], arguments["times"]
    )


@OPERATIONS.register
def resized_rounds(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return rounds.resized_rounds(
        case.calls, case.source, arguments["size"], arguments["new_size"], arguments["times"]
    )


@OPERATIONS.register
def counted_rounds(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return rounds.counted_rounds(
        case.calls,
        arguments["size"],
        arguments["new_size"],
        arguments["guess"],
        arguments["times"],
    )


@OPERATIONS.register
def zeroed_rounds(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return rounds.zeroed_rounds(case.calls, case.source, arguments["size"], arguments["times"])


@OPERATIONS.register
def many_rounds(_case: HandlerCase, _on: str, _arguments: Arguments) -> Facts:
    raise Declined(
        "so many rounds are made in shared libraries only, because Python records each call; if a"
        " library exports the handler, run it as PATH.so:symbol too"
    )


@OPERATIONS.register
def leak_rounds(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    by, size, hold = arguments["by"], arguments["size"], arguments.get("hold", 1)
    return rounds.leak_rounds(case.calls, case.source, by, size, hold)


@OPERATIONS.register
def handed_rounds(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return rounds.handed_rounds(case.calls, case.source, arguments["size"], arguments["times"])


@OPERATIONS.register
def thread_rounds(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    return rounds.thread_rounds(
        case.calls, case.source, arguments["blocks"], arguments["size"], arguments["times"]
    )
