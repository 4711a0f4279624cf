"""The operations through real numba-cuda, with the subject installed as its memory manager."""

import ctypes
import os
import sys
import types

import numpy
from numba import cuda
from numba.cuda.core import config
from numba.cuda.cudadrv import driver as numba_driver

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
    cls = case.subject.cls
    if arguments.get("interface_version") is not None:
        claimed = arguments["interface_version"]
        cls = type(cls)(cls.__name__, (cls,), {"interface_version": property(lambda _self: claimed)})
    cuda.set_memory_manager(cls)


@operation
def register_by_environment(case, _on, arguments):
    module = arguments.get("module")
    if module is None:
        module = OFFERED
        sys.modules[module] = types.ModuleType(module)
        sys.modules[module]._numba_memory_manager = case.subject.cls
    os.environ["NUMBA_CUDA_MEMORY_MANAGER"] = module
    config.reload_config()


@operation
def open_context(case, _on, _arguments):
    context = cuda.current_context()
    manager = context.memory_manager
    return {
        "manager_type": type_name(manager),
        "manager_is_subject": isinstance(manager, case.subject.cls),
        "same_manager": case.is_last_manager(manager),
        "closed_contexts": case.closed_contexts(context),
    }


@operation
def device_array(case, _on, arguments):
    return _bind_array(case, arguments, cuda.device_array(arguments["size"], numpy.uint8))


@operation
def pinned_array(case, _on, arguments):
    return _bind_array(case, arguments, cuda.pinned_array(arguments["size"], numpy.uint8))


@operation
def mapped_array(case, _on, arguments):
    portable, wc = arguments.get("portable", False), arguments.get("wc", False)
    return _bind_array(case, arguments, cuda.mapped_array(arguments["size"], numpy.uint8, portable=portable, wc=wc))


@operation
def managed_array(case, _on, arguments):
    return _bind_array(case, arguments, cuda.managed_array(arguments["size"], numpy.uint8))


@operation
def to_device(case, _on, arguments):
    source = numpy.full(arguments["size"], arguments["byte"], numpy.uint8)
    return _bind_array(case, arguments, cuda.to_device(source))


@operation
def slice(case, _on, arguments):
    part = case.names.get(arguments["of"])[arguments["start"] : arguments["stop"]]
    return _bind_array(case, arguments, part)


def _bind_array(case, arguments, array):
    case.names.bind(arguments["as"], array)
    return facts.array(array)


@operation
def copy_to_host(case, _on, arguments):
    data = case.names.get(arguments["array"]).copy_to_host().tobytes()
    return {"uniform": transfer.uniform_byte(data), "bytes_read": len(data)}


@operation
def pin_block(_case, _on, arguments):
    buffer = numpy.zeros(arguments["size"], numpy.uint8)
    block = cuda.mapped if arguments.get("mapped", False) else cuda.pinned
    for _ in range(arguments.get("times", 1)):
        try:
            with block(buffer):
                if arguments.get("raising", False):
                    raise Leaving("leaving the block through an exception")
        except Leaving:
            pass


@operation
def host_defer_enter(case, _on, arguments):
    return enter(case, arguments["as"], cuda.defer_cleanup())


@operation
def host_defer_exit(case, _on, arguments):
    return leave(case, arguments["scope"], arguments.get("raising", False))


@operation
def host_memory_info(_case, _on, _arguments):
    return facts.memory_info(cuda.current_context().get_memory_info())


@operation
def host_ipc_handle(case, _on, arguments):
    array = case.names.get(arguments["array"])
    handle = array.get_ipc_handle()
    inner = read(handle, "_ipc_handle", handle)
    case.names.bind(arguments["as"], inner)
    return ipc_facts(case, inner, read(array, "gpu_data"), cuda.current_context())


@operation
def host_reset(_case, _on, _arguments):
    cuda.current_context().reset()


@operation
def close(case, _on, _arguments):
    cuda.close()
    case.forget_contexts()
    _retain_again(case)


def _retain_again(case):
    """cuda.core remembers the primary contexts that Numba has just released, and never retains them again: the next
    context would be a dead one, whatever the plugin does. So the worker does it for cuda.core."""
    context = ctypes.c_void_p()
    with case.driver.harness():
        for device in numba_driver.driver.devices.values():
            case.driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(device.id))
