"""The operations through real numba-cuda, with the subject installed as its memory manager."""

import os
import sys
import types
import warnings

import numpy
from numba.cuda.core import config

from ..operation import operation
from ..peek import read
from ..text import type_name
from . import facts, transfer
from .manager import ipc_facts
from .scope import Leaving, enter, leave

#: The module through which the subject is offered to NUMBA_CUDA_MEMORY_MANAGER.
OFFERED = "allocert_subject_under_test"


@operation
def register(case, _on, arguments):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        case.host.set_memory_manager(case.plugin(arguments))
    return {"warned": bool(warned)}


@operation
def register_by_environment(case, _on, arguments):
    module = arguments.get("module")
    if module is None:
        module = OFFERED
        sys.modules[module] = types.ModuleType(module)
        sys.modules[module]._numba_memory_manager = case.plugin(arguments)
    os.environ["NUMBA_CUDA_MEMORY_MANAGER"] = module
    config.reload_config()


@operation
def open_context(case, _on, _arguments):
    context = case.host.current_context()
    manager = context.memory_manager
    return {
        "manager_type": type_name(manager),
        **case.manager_facts(manager),
        "same_manager": case.is_last_manager(manager),
        "closed_contexts": case.closed_contexts(context),
    }


@operation
def device_array(case, _on, arguments):
    return bind_array(case, arguments, case.host.device_array(arguments["size"], numpy.uint8))


@operation
def pinned_array(case, _on, arguments):
    return bind_array(case, arguments, case.host.pinned_array(arguments["size"], numpy.uint8))


@operation
def mapped_array(case, _on, arguments):
    portable, wc = arguments.get("portable", False), arguments.get("wc", False)
    return bind_array(
        case,
        arguments,
        case.host.mapped_array(arguments["size"], numpy.uint8, portable=portable, wc=wc),
    )


@operation
def managed_array(case, _on, arguments):
    return bind_array(case, arguments, case.host.managed_array(arguments["size"], numpy.uint8))


@operation
def to_device(case, _on, arguments):
    source = numpy.full(arguments["size"], arguments["byte"], numpy.uint8)
    return bind_array(case, arguments, case.host.to_device(source))


@operation
def slice(case, _on, arguments):
    part = case.names.get(arguments["of"])[arguments["start"] : arguments["stop"]]
    return bind_array(case, arguments, part)


def bind_array(case, arguments, array):
    case.names.bind(arguments["as"], array)
    return facts.array(array)


@operation
def copy_to_host(case, _on, arguments):
    data = case.names.get(arguments["array"]).copy_to_host().tobytes()
    return {"uniform": transfer.uniform_byte(data), "bytes_read": len(data)}


@operation
def pin_block(case, _on, arguments):
    buffer = numpy.zeros(arguments["size"], numpy.uint8)
    block = case.host.mapped if arguments.get("mapped", False) else case.host.pinned
    for _ in range(arguments.get("times", 1)):
        try:
            with block(buffer):
                if arguments.get("raising", False):
                    raise Leaving("leaving the block through an exception")
        except Leaving:
            pass


@operation
def host_defer_enter(case, _on, arguments):
    return enter(case, arguments["as"], case.host.defer_cleanup())


@operation
def host_defer_exit(case, _on, arguments):
    return leave(case, arguments["scope"], arguments.get("raising", False))


@operation
def host_memory_info(case, _on, _arguments):
    return facts.memory_info(case.host.current_context().get_memory_info())


@operation
def host_ipc_handle(case, _on, arguments):
    array = case.names.get(arguments["array"])
    handle = array.get_ipc_handle()
    inner = read(handle, "_ipc_handle", handle)
    case.names.bind(arguments["as"], inner)
    return ipc_facts(case, inner, read(array, "gpu_data"), case.host.current_context())


@operation
def host_reset(case, _on, _arguments):
    case.host.current_context().reset()


@operation
def close(case, _on, _arguments):
    case.host.close()
    case.closed()
