"""The operations on the handler that a host uses."""

import sys

from ..operations import Arguments, Facts, OperationTable
from ..safe_text import type_name
from .case import HandlerHostCase
from .handlers import name_of

OPERATIONS: OperationTable[HandlerHostCase] = OperationTable()

#: So often the worker asks for the handler, to see whether references stay.
_TIMES = 100


@OPERATIONS.register
def install(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    capsule = case.handlers.new(
        arguments["handler"],
        arguments.get("version", 1),
        guarded=arguments.get("guarded", False),
        watched=arguments.get("watched", False),
    )
    return _set(case, capsule)


@OPERATIONS.register
def handler_ended(case: HandlerHostCase, _on: str, _arguments: Arguments) -> Facts:
    case.previous = None
    return {"ended": case.handlers.ended}


@OPERATIONS.register
def guards(case: HandlerHostCase, _on: str, _arguments: Arguments) -> Facts:
    found = case.handlers.guards
    return {"blocks": found.blocks, "bytes": found.bytes(), "damaged": found.damaged()}


@OPERATIONS.register
def restore(case: HandlerHostCase, _on: str, _arguments: Arguments) -> Facts:
    return _set(case, None)


@OPERATIONS.register
def install_previous(case: HandlerHostCase, _on: str, _arguments: Arguments) -> Facts:
    return _set(case, case.previous)


def _set(case: HandlerHostCase, capsule: object) -> Facts:
    case.previous = case.subject.set_handler(capsule)
    return {"previous": name_of(case.previous)}


@OPERATIONS.register
def install_wrong(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    wrong = case.handlers.new(
        "wrong",
        arguments.get("version", 1),
        arguments.get("capsule", "mem_handler"),
        arguments.get("without"),
        arguments.get("endless_name", False),
    )
    current = case.subject.get_handler()
    before = sys.getrefcount(current)
    accepted, error = 0, None
    for _ in range(arguments.get("times", 1)):
        try:
            case.subject.set_handler(wrong)
        except Exception as raised:  # noqa: BLE001 - whatever the host raises is a fact
            error = type_name(raised)
        else:
            accepted += 1
            case.subject.set_handler(current)
    leaked = sys.getrefcount(current) - before
    return {
        "accepted": accepted,
        "error": error,
        "handler": case.handler_name(),
        "leaked": leaked,
    }


@OPERATIONS.register
def handler(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    name = arguments.get("of")
    array = [] if name is None else [case.bindings.get(name)]
    got = case.subject.get_handler()
    before = sys.getrefcount(got)
    for _ in range(_TIMES):
        case.subject.get_handler()
    return {
        "name": case.handler_name(*array),
        "version": case.handler_version(*array),
        "got": name_of(got),
        "leaked": sys.getrefcount(got) - before,
    }


@OPERATIONS.register
def handler_of_number(case: HandlerHostCase, _on: str, _arguments: Arguments) -> None:
    case.handler_name(3)


@OPERATIONS.register
def fail_handler(case: HandlerHostCase, _on: str, arguments: Arguments) -> None:
    nth, count = arguments.get("nth", 1), arguments.get("count", 1)
    case.handlers.fail(arguments["function"], nth, count)


@OPERATIONS.register
def clear_handler_faults(case: HandlerHostCase, _on: str, _arguments: Arguments) -> None:
    case.handlers.clear_faults()
