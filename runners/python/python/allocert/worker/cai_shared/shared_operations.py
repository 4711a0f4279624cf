"""The operations of both sides: streams, the adapter itself, and what every consumer does."""

import functools

from ..operations import Arguments, Facts, OperationTable
from . import data_facts
from .case import AdapterCase
from .exported_interface import Unusable
from .layout import broadcast

OPERATIONS: OperationTable[AdapterCase] = OperationTable()

#: No case uses more; the worker does not read an array that claims more.
_SPAN_LIMIT_BYTES = 1 << 26


@OPERATIONS.register
def instantiate(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    case.bindings.bind(arguments["as"], case.adapter_class()())


@OPERATIONS.register
def stream(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    make = functools.partial(case.device.stream, arguments["kind"])
    made = case.device.in_second_context(make) if arguments.get("second_context") else make()
    case.bindings.bind(arguments["as"], made)
    return {"handle": made.handle}


@OPERATIONS.register
def subject_stream(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    case.bindings.bind(arguments["as"], case.adapter_method("stream")(arguments["kind"]))


@OPERATIONS.register
def synchronize(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    case.device.synchronize(case.bindings.get(arguments["stream"]).handle)


@OPERATIONS.register
def alive(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    alive = case.bindings.alive(arguments["of"])
    if arguments.get("as") is not None:
        case.bindings.bind(arguments["as"], alive)
    return {"alive": alive}


@OPERATIONS.register
def consume(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    """Waits for the exported stream, if there is one, and copies the data on a stream of its own.

    With `mask` these are the data of the mask, with the mask's stream; `truths` says of each
    element of the data whether it is valid.
    """
    whole, of_mask = case.bindings.get(arguments["export"]), bool(arguments.get("mask"))
    exported = whole.mask() if of_mask else whole
    device, own = case.device, case.device.own.handle
    layout, pointer, typestr = exported.layout(), exported.pointer, exported.typestr
    low, high = layout.span()
    if high - low > _SPAN_LIMIT_BYTES:
        raise Unusable(f"the array reaches over {high - low} bytes")
    if exported.stream is not None:
        device.order(exported.stream, own)
    raw = device.read(pointer + low, high - low, own)
    found = data_facts.of_bytes(layout.gathered(raw), typestr)
    if of_mask and "truths" in found:
        found["truths"] = broadcast(found["truths"], layout.shape, whole.layout().shape)
    return found
