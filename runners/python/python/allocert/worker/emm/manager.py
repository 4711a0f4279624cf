"""The operations on one manager, called directly as Numba's Context would call it, and on the memory it gave."""

import importlib

from ..operation import operation
from ..peek import read
from ..text import bounded, class_name, class_names, type_name
from . import facts, transfer
from .scope import enter, leave


@operation
def describe(case, _on, _arguments):
    cls = case.subject.cls
    if case.subject.initialized_driver:
        # Its import called the driver before any step; here the calls can be seen.
        importlib.reload(case.subject.module)
    described = {
        "name": class_name(cls),
        "version": case.subject.version,
        "abstract": sorted(map(str, read(cls, "__abstractmethods__", ()))),
        "bases": class_names(cls),
        "instantiable": False,
        "interface_version": None,
        "interface_version_type": None,
    }
    try:
        manager = cls(context=None)
    except BaseException as error:  # noqa: BLE001 - that it fails is the fact
        described["error"] = f"{type_name(error)}: {bounded(error, 500)}"
        return described
    version = manager.interface_version
    described.update(
        instantiable=True,
        interface_version=facts.plain(version),
        interface_version_type=type_name(version),
    )
    return described


@operation
def create(case, _on, arguments):
    context = case.context(arguments.get("device", 0))
    manager = case.subject.cls(context=context)
    case.names.bind(arguments["as"], manager)
    return {
        "type": type_name(manager),
        "bases": facts.bases(manager),
        "holds_context": read(manager, "context") is context,
    }


@operation
def destroy(case, on, _arguments):
    case.names.drop(on)


@operation
def initialize(case, on, _arguments):
    return {"none": case.manager(on).initialize() is None}


@operation
def memalloc(case, on, arguments):
    return _bind_memory(case, on, arguments, case.manager(on).memalloc(arguments["size"]))


@operation
def memhostalloc(case, on, arguments):
    mapped, portable, wc = (arguments.get(flag, False) for flag in ("mapped", "portable", "wc"))
    memory = case.manager(on).memhostalloc(arguments["size"], mapped, portable, wc)
    found = _bind_memory(case, on, arguments, memory)
    return {**found, "write_combined": case.driver.write_combined(found["host_pointer"])}


@operation
def host_buffer(case, _on, arguments):
    buffer = transfer.HostBuffer(arguments["size"])
    case.names.bind(arguments["as"], buffer)
    return {"host_pointer": buffer.host_pointer, "size_bytes": buffer.size}


@operation
def mempin(case, on, arguments):
    buffer = case.names.get(arguments["buffer"])
    memory = case.manager(on).mempin(
        buffer, buffer.host_pointer, buffer.size, arguments.get("mapped", False)
    )
    return _bind_memory(case, on, arguments, memory)


@operation
def view(case, on, arguments):
    start = arguments["offset"]
    memory = case.names.get(arguments["of"]).view(start, start + arguments["size"])
    return _bind_memory(case, on, arguments, memory)


def _bind_memory(case, on, arguments, memory):
    case.names.bind(arguments["as"], memory)
    return facts.memory(memory, read(case.manager(on), "context") or case.context())


@operation
def get_memory_info(case, on, arguments):
    info = case.manager(on).get_memory_info()
    if arguments.get("as") is not None:
        case.names.bind(arguments["as"], info)
    return facts.memory_info(info)


@operation
def get_ipc_handle(case, on, arguments):
    memory = case.names.get(arguments["memory"])
    handle = case.manager(on).get_ipc_handle(memory)
    case.names.bind(arguments["as"], handle)
    return ipc_facts(case, handle, memory, read(case.manager(on), "context") or case.context())


def ipc_facts(case, handle, memory, context):
    with case.driver.harness():
        identity = context.device.get_device_identity()
    return facts.ipc_handle(handle, memory, identity)


@operation
def reset(case, on, _arguments):
    return {"none": case.manager(on).reset() is None}


@operation
def defer_enter(case, on, arguments):
    return enter(case, arguments["as"], case.manager(on).defer_cleanup())


@operation
def defer_exit(case, _on, arguments):
    return leave(case, arguments["scope"], arguments.get("raising", False))
