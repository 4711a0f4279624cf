"""The operations that only a host under test has."""

import inspect
from typing import Any

from ..emm_shared import facts
from ..operations import Arguments, Facts, OperationTable
from ..safe_access import read_attribute
from .case import HostCase

OPERATIONS: OperationTable[HostCase] = OperationTable()

#: What NBEP 7 and the documentation call part of the public API.
_PUBLIC_NAMES = (
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
_DERIVED = (
    ("HostOnlyCUDAMemoryManager", "BaseCUDAMemoryManager"),
    ("MappedMemory", "MemoryPointer"),
)
#: The names of the arguments that the texts give.
_MEMORY_ARGUMENTS = ("context", "pointer", "size", "owner", "finalizer")
_CONSTRUCTORS = {
    "MemoryPointer": _MEMORY_ARGUMENTS,
    "MappedMemory": _MEMORY_ARGUMENTS,
    "PinnedMemory": _MEMORY_ARGUMENTS,
    "IpcHandle": ("base", "handle", "size", "source_info", "offset"),
}
_ERRORS = {
    "out_of_memory": MemoryError,
    "not_supported": NotImplementedError,
    "invalid_value": ValueError,
    "state": RuntimeError,
}


@OPERATIONS.register
def describe_host(case: HostCase, _on: str, _arguments: Arguments) -> Facts:
    return {
        "public": [name for name in _PUBLIC_NAMES if read_attribute(case.host, name) is not None],
        "abstract": _abstract_members(read_attribute(case.host, "BaseCUDAMemoryManager")),
        "bases": [f"{name} is {base}" for name, base in _DERIVED if _derives(case, name, base)],
        "constructible": [
            name
            for name, arguments in _CONSTRUCTORS.items()
            if _takes(read_attribute(case.host, name), arguments)
        ],
        "initialized_driver": case.subject.initialized_driver,
    }


def _abstract_members(cls: Any) -> list[str]:
    return sorted(map(str, read_attribute(cls, "__abstractmethods__", ())))


def _derives(case: HostCase, name: str, base: str) -> bool:
    found = [read_attribute(case.host, one) for one in (name, base)]
    return all(isinstance(one, type) for one in found) and issubclass(*found)


def _takes(cls: Any, arguments: tuple[str, ...]) -> bool:
    """Whether a call with these arguments by position, and one by name, fit the signature."""
    try:
        signature = inspect.signature(cls)
        signature.bind(*arguments)
        signature.bind(**dict.fromkeys(arguments))
    except (TypeError, ValueError):
        return False
    return True


@OPERATIONS.register
def plugin_fails(case: HostCase, _on: str, arguments: Arguments) -> None:
    error = _ERRORS[arguments["error"]]

    def make() -> Exception:
        # The fixtures expect this message from the host.
        return error("the plugin was told to fail")

    case.call_log.fail(arguments["method"], make, arguments.get("times", 1))


@OPERATIONS.register
def select_device(case: HostCase, _on: str, arguments: Arguments) -> None:
    case.host.select_device(arguments["device"])


@OPERATIONS.register
def host_memory(case: HostCase, _on: str, arguments: Arguments) -> Facts:
    flags = {name: arguments.get(name, False) for name in ("mapped", "portable", "wc")}
    memory = case.host.current_context().memhostalloc(arguments["size"], **flags)
    case.bindings.bind(arguments["as"], memory)
    return facts.memory(memory, case.host.current_context())


@OPERATIONS.register
def host_object(case: HostCase, _on: str, arguments: Arguments) -> None:
    make = {
        "stream": case.host.stream,
        "event": case.host.event,
        "module": lambda: _empty_module(case.host),
    }
    case.bindings.bind(arguments["as"], make[arguments["kind"]]())


def _empty_module(host: Any) -> Any:
    """Loads an empty module, as the host loads a compiled function."""
    return host.current_context().create_module_ptx(
        ".version 7.0\n.target sm_70\n.address_size 64\n"
    )


@OPERATIONS.register
def host_synchronize(case: HostCase, _on: str, _arguments: Arguments) -> None:
    case.host.synchronize()
