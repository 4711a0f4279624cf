"""The operations that call the functions of an allocator."""

from .. import churn_and_stress, process_operations
from ..operations import Arguments, Facts, OperationTable
from .block_source import PlaceBlocks
from .calls import DEFAULT_STREAM
from .case import AllocatorCase
from .places import Place, PlaceKind

OPERATIONS: OperationTable[AllocatorCase] = OperationTable()
for _shared in ("fault", "clear_faults", "environment"):
    OPERATIONS[_shared] = process_operations.OPERATIONS[_shared]


@OPERATIONS.register
def alloc(case: AllocatorCase, _on: str, arguments: Arguments) -> Facts:
    place, size = Place.read(arguments["place"]), arguments["size"]
    named = arguments.get("stream")
    stream = DEFAULT_STREAM if named is None else case.stream(named).handle
    case.calls.ask_for(place)
    block = case.calls.alloc(place, size, stream)
    case.blocks[arguments["as"]] = block
    stated = block.taken.stated_bytes
    return {
        "kind": "block",
        "pointer": block.address,
        "host_pointer": 0 if place.kind == PlaceKind.CUDA else block.address,
        "size_bytes": size,
        "device": case.memory.device_of(place, block.address),
        "leaves_current": block.leaves_current,
        "stated_bytes": int(stated) if type(stated) is int else None,
    }


@OPERATIONS.register
def drop(case: AllocatorCase, _on: str, arguments: Arguments) -> Facts:
    name = arguments["name"]
    if name in case.occupied:
        case.occupied.pop(name)()
        return {}
    if name in case.streams:
        del case.streams[name]
        return {}
    block = case.block(name)
    del case.blocks[name]
    return {"leaves_current": case.calls.free(block)}


@OPERATIONS.register
def release_all(_case: AllocatorCase, _on: str, _arguments: Arguments) -> None:
    """No ABI of Python objects has such a call."""


@OPERATIONS.register
def churn(case: AllocatorCase, _on: str, arguments: Arguments) -> Facts:
    return churn_and_stress.churn(
        _source(case, arguments),
        arguments["size"],
        arguments["times"],
        arguments.get("hold", 1),
        arguments.get("then"),
    )


@OPERATIONS.register
def stress(case: AllocatorCase, _on: str, arguments: Arguments) -> Facts:
    return churn_and_stress.stress(
        _source(case, arguments), arguments["threads"], arguments["size"], arguments["times"]
    )


def _source(case: AllocatorCase, arguments: Arguments) -> PlaceBlocks:
    place = Place.read(arguments["place"])
    case.calls.ask_for(place)
    return PlaceBlocks(case.calls, case.memory, place)
