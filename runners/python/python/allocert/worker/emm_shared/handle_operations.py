"""The operations on an IPC handle that the subject made."""

import contextlib
import pickle as python_pickle
from collections.abc import Iterator
from typing import Any

from numba.cuda.cudadrv import driver as numba_driver

from ..operations import Arguments, Facts, OperationTable
from ..outcome import Declined
from ..safe_access import read_attribute
from ..safe_text import type_name
from . import facts, peer_process, transfer
from .case import NumbaCase

OPERATIONS: OperationTable[NumbaCase] = OperationTable()


@OPERATIONS.register
def pickle(case: NumbaCase, _on: str, arguments: Arguments) -> Facts:
    handle = case.bindings.get(arguments["handle"])
    if type(read_attribute(handle, "handle")) is numba_driver.binding.CUipcMemHandle:
        _check_host_pickles(handle.handle)
    copy = python_pickle.loads(python_pickle.dumps(handle))
    return {
        "same_handle": facts.handle_bytes(copy) == facts.handle_bytes(handle) is not None,
        "same_offset": _number(copy, "offset") == _number(handle, "offset"),
        "same_size": _number(copy, "size") == _number(handle, "size"),
    }


@OPERATIONS.register
def peer_read(case: NumbaCase, _on: str, arguments: Arguments) -> Facts:
    handle = case.bindings.get(arguments["handle"])
    raw, offset = facts.handle_bytes(handle), _number(handle, "offset")
    if raw is None or len(raw) != facts.HANDLE_BYTES or type(offset) is not int:
        raise transfer.Unusable("the handle holds no CUipcMemHandle and offset to open")
    context = case.context()
    device = int(context.device.id) if context is not None else 0
    with case.driver.harness():
        # Writes of this process may not have ended, and nothing orders two processes.
        case.driver.call("cuCtxSynchronize")
        return peer_process.read(raw, offset, arguments["size"], device)


def _check_host_pickles(handle: Any) -> None:
    """Declines for a cuda-bindings whose handles lack the attribute that Numba pickles."""
    if not hasattr(handle, "reserved"):
        raise Declined("Numba cannot pickle a CUipcMemHandle of this cuda-bindings")


def _number(handle: Any, name: str) -> int | str | None:
    return facts.number(read_attribute(handle, name))


@contextlib.contextmanager
def may_refuse_handle(case: NumbaCase, memory: Any) -> Iterator[None]:
    """Declines where the driver shares no such memory and the subject raises an error.

    The documentation has plugins refuse what the driver cannot share (EMM-IPC-17).
    """
    try:
        yield
    except Exception as error:
        pointer = facts.extent(memory)["pointer"]
        if type(pointer) is int and pointer and not case.driver.can_share(pointer):
            reason = f"the driver cannot share this memory; {type_name(error)}"
            raise Declined(reason) from None
        raise


def ipc_facts(case: NumbaCase, handle: Any, memory: Any, context: Any) -> Facts:
    """The facts of a handle made for this memory of a Numba context."""
    with case.driver.harness():
        identity = context.device.get_device_identity()
    return facts.ipc_handle(handle, memory, identity)
