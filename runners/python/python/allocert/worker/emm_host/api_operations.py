"""The operations that call the API of a host, whoever's plugin it uses."""

import contextlib
import os
import sys
import types
import warnings
from typing import Any

import numpy
from numba.cuda.core import config

from ..emm_shared import facts
from ..emm_shared.context_manager import LeaveEarly, enter, leave
from ..emm_shared.handle_operations import ipc_facts, may_refuse_handle
from ..operations import Arguments, Facts, OperationTable
from ..safe_access import read_attribute
from ..safe_text import type_name
from ..uniform import uniform_byte
from .api_case import HostApiCase

OPERATIONS: OperationTable[HostApiCase] = OperationTable()

#: The module that NUMBA_CUDA_MEMORY_MANAGER names to register the plugin of the case.
_PLUGIN_MODULE = "allocert_subject_under_test"


@OPERATIONS.register
def register(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        case.host.set_memory_manager(case.plugin(arguments))
    return {"warned": bool(warned)}


@OPERATIONS.register
def register_by_environment(case: HostApiCase, _on: str, arguments: Arguments) -> None:
    name = arguments.get("module")
    if name is None:
        name = _PLUGIN_MODULE
        module = types.ModuleType(name)
        module.__dict__["_numba_memory_manager"] = case.plugin(arguments)
        sys.modules[name] = module
    os.environ["NUMBA_CUDA_MEMORY_MANAGER"] = name
    config.reload_config()


@OPERATIONS.register
def open_context(case: HostApiCase, _on: str, _arguments: Arguments) -> Facts:
    context = case.host.current_context()
    manager = context.memory_manager
    return {
        "manager_type": type_name(manager),
        **case.manager_facts(manager),
        "same_manager": case.is_last_manager(manager),
        "closed_contexts": case.closed_contexts(context),
    }


@OPERATIONS.register
def device_array(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    size, rows = arguments["size"], arguments.get("rows")
    shape = size if rows is None else (rows, size // rows)
    return bind_array(case, arguments, case.host.device_array(shape, numpy.uint8))


@OPERATIONS.register
def pinned_array(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    return bind_array(case, arguments, case.host.pinned_array(arguments["size"], numpy.uint8))


@OPERATIONS.register
def mapped_array(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    flags = {name: arguments.get(name, False) for name in ("portable", "wc")}
    array = case.host.mapped_array(arguments["size"], numpy.uint8, **flags)
    return bind_array(case, arguments, array)


@OPERATIONS.register
def managed_array(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    return bind_array(case, arguments, case.host.managed_array(arguments["size"], numpy.uint8))


@OPERATIONS.register
def to_device(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    source = numpy.full(arguments["size"], arguments["byte"], numpy.uint8)
    return bind_array(case, arguments, case.host.to_device(source))


@OPERATIONS.register_as("slice")
def slice_array(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    part = case.bindings.get(arguments["of"])[arguments["start"] : arguments["stop"]]
    return bind_array(case, arguments, part)


def bind_array(case: HostApiCase, arguments: Arguments, array: Any) -> Facts:
    """Binds an array of the host to the name in `as`, and returns its facts."""
    case.bindings.bind(arguments["as"], array)
    return facts.array(array)


@OPERATIONS.register
def copy_to_host(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    data = case.bindings.get(arguments["array"]).copy_to_host().tobytes()
    return {"uniform": uniform_byte(data), "bytes_read": len(data)}


@OPERATIONS.register
def pin_block(case: HostApiCase, _on: str, arguments: Arguments) -> None:
    buffer = numpy.zeros(arguments["size"], numpy.uint8)
    block = case.host.mapped if arguments.get("mapped", False) else case.host.pinned
    for _ in range(arguments.get("times", 1)):
        with contextlib.suppress(LeaveEarly), block(buffer):
            if arguments.get("raising", False):
                raise LeaveEarly("leaving the block through an exception")


@OPERATIONS.register
def host_defer_enter(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    return enter(case, arguments["as"], case.host.defer_cleanup())


@OPERATIONS.register
def host_defer_exit(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    return leave(case, arguments["scope"], arguments.get("raising", False))


@OPERATIONS.register
def host_memory_info(case: HostApiCase, _on: str, _arguments: Arguments) -> Facts:
    return facts.memory_info(case.host.current_context().get_memory_info())


@OPERATIONS.register
def host_ipc_handle(case: HostApiCase, _on: str, arguments: Arguments) -> Facts:
    array = case.bindings.get(arguments["array"])
    memory = read_attribute(array, "gpu_data")
    with may_refuse_handle(case, memory):
        handle = array.get_ipc_handle()
    inner = read_attribute(handle, "_ipc_handle", handle)
    case.bindings.bind(arguments["as"], inner)
    return ipc_facts(case, inner, memory, case.host.current_context())


@OPERATIONS.register
def host_reset(case: HostApiCase, _on: str, arguments: Arguments) -> None:
    device = arguments.get("device")
    if device is None:
        case.host.current_context().reset()
    else:
        case.host.gpus[device].get_primary_context().reset()


@OPERATIONS.register
def close(case: HostApiCase, _on: str, _arguments: Arguments) -> None:
    case.host.close()
    case.host_closed()
