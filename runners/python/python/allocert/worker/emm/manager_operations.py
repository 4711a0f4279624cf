"""The operations on one manager, called as Numba's Context calls it."""

import ctypes
from typing import Any

from ..emm_shared import facts
from ..emm_shared.context_manager import enter, leave
from ..emm_shared.handle_operations import ipc_facts, may_refuse_handle
from ..operations import Arguments, Facts, OperationTable
from ..outcome import Declined
from ..safe_access import read_attribute
from ..safe_text import type_name
from .case import ManagerCase

OPERATIONS: OperationTable[ManagerCase] = OperationTable()

#: CUDA_ERROR_OUT_OF_MEMORY.
OUT_OF_MEMORY = 2


@OPERATIONS.register
def create(case: ManagerCase, _on: str, arguments: Arguments) -> Facts:
    context = case.context(arguments.get("device", 0))
    manager = case.subject.cls(context=context)
    case.bindings.bind(arguments["as"], manager)
    return {
        "type": type_name(manager),
        "bases": facts.bases(manager),
        "holds_context": read_attribute(manager, "context") is context,
    }


@OPERATIONS.register
def destroy(case: ManagerCase, on: str, _arguments: Arguments) -> None:
    case.bindings.drop(on)


@OPERATIONS.register
def initialize(case: ManagerCase, on: str, _arguments: Arguments) -> Facts:
    return {"none": case.manager(on).initialize() is None}


@OPERATIONS.register
def memalloc(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    try:
        memory = case.manager(on).memalloc(arguments["size"])
    except Exception as error:
        # Without finalizers, what the case released is still in use.
        if case.lacks_finalizers and _is_out_of_memory(error):
            raise Declined(f"the memory carries no finalizer; {type_name(error)}") from None
        raise
    found = _bind_memory(case, on, arguments, memory)
    case.lacks_finalizers |= found["kind"] == "device" and not found["has_finalizer"]
    return found


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or read_attribute(error, "code") == OUT_OF_MEMORY


@OPERATIONS.register
def memhostalloc(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    mapped, portable, wc = (arguments.get(flag, False) for flag in ("mapped", "portable", "wc"))
    memory = case.manager(on).memhostalloc(arguments["size"], mapped, portable, wc)
    found = _bind_memory(case, on, arguments, memory)
    return {**found, **case.driver.host_flags(found["host_pointer"])}


@OPERATIONS.register
def mempin(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    buffer = case.bindings.get(arguments["buffer"])
    mapped = arguments.get("mapped", False)
    memory = case.manager(on).mempin(buffer, buffer.host_pointer, buffer.size, mapped)
    return _bind_memory(case, on, arguments, memory)


@OPERATIONS.register
def free(case: ManagerCase, _on: str, arguments: Arguments) -> None:
    case.bindings.get(arguments["name"]).free()


@OPERATIONS.register
def view(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    start, base = arguments["offset"], case.bindings.get(arguments["of"])
    if isinstance(read_attribute(base, "device_pointer"), ctypes.c_uint64):
        raise Declined("Numba takes no view at an address of type ctypes.c_uint64")
    memory = base.view(start, start + arguments["size"])
    return _bind_memory(case, on, arguments, memory)


def _bind_memory(case: ManagerCase, on: str, arguments: Arguments, memory: Any) -> Facts:
    case.bindings.bind(arguments["as"], memory)
    return facts.memory(memory, _context(case, on))


def _context(case: ManagerCase, on: str) -> Any:
    """The context of that manager, or the one attached last if the manager has none."""
    return read_attribute(case.manager(on), "context") or case.context()


@OPERATIONS.register
def get_memory_info(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    info = case.manager(on).get_memory_info()
    if arguments.get("as") is not None:
        case.bindings.bind(arguments["as"], info)
    return facts.memory_info(info)


@OPERATIONS.register
def get_ipc_handle(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    memory = case.bindings.get(arguments["memory"])
    with may_refuse_handle(case, memory):
        handle = case.manager(on).get_ipc_handle(memory)
    case.bindings.bind(arguments["as"], handle)
    return ipc_facts(case, handle, memory, _context(case, on))


@OPERATIONS.register
def reset(case: ManagerCase, on: str, _arguments: Arguments) -> Facts:
    return {"none": case.manager(on).reset() is None}


@OPERATIONS.register
def defer_enter(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    return enter(case, arguments["as"], case.manager(on).defer_cleanup())


@OPERATIONS.register
def defer_exit(case: ManagerCase, _on: str, arguments: Arguments) -> Facts:
    return leave(case, arguments["scope"], arguments.get("raising", False))
