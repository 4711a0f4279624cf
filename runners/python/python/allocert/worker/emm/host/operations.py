"""The operations that only a host under test has."""

from ...operation import operation
from ...peek import read
from .. import facts

#: What NBEP 7 and the documentation call part of the public API.
PUBLIC = (
    "BaseCUDAMemoryManager",
    "HostOnlyCUDAMemoryManager",
    "GetIpcHandleMixin",
    "MemoryPointer",
    "MappedMemory",
    "PinnedMemory",
    "MemoryInfo",
    "IpcHandle",
    "set_memory_manager",
    "defer_cleanup",
)
ERRORS = {
    "out_of_memory": MemoryError,
    "not_supported": NotImplementedError,
    "invalid_value": ValueError,
    "state": RuntimeError,
}


@operation
def describe_host(case, _on, _arguments):
    return {
        "public": [name for name in PUBLIC if read(case.host, name) is not None],
        "initialized_driver": case.subject.initialized_driver,
    }


@operation
def plugin_fails(case, _on, arguments):
    error = ERRORS[arguments["error"]]

    def fail():
        return error("the plugin was told to fail")

    case.journal.fail(arguments["method"], fail, arguments.get("times", 1))


@operation
def select_device(case, _on, arguments):
    case.host.select_device(arguments["device"])


@operation
def host_memory(case, _on, arguments):
    flags = {name: arguments.get(name, False) for name in ("mapped", "portable", "wc")}
    memory = case.host.current_context().memhostalloc(arguments["size"], **flags)
    case.names.bind(arguments["as"], memory)
    return facts.memory(memory, case.host.current_context())


@operation
def host_object(case, _on, arguments):
    make = {
        "stream": case.host.stream,
        "event": case.host.event,
        "module": lambda: _module(case.host),
    }
    case.names.bind(arguments["as"], make[arguments["kind"]]())


def _module(host):
    """An empty one, as a compiled function is loaded."""
    return host.current_context().create_module_ptx(
        ".version 7.0\n.target sm_70\n.address_size 64\n"
    )


@operation
def host_synchronize(case, _on, _arguments):
    case.host.synchronize()
