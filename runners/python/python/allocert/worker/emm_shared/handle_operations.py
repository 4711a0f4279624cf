"""The operations on an IPC handle that the subject made."""

import pickle as python_pickle
from typing import Any

from numba.cuda.cudadrv import driver as numba_driver

from ..operations import Arguments, Facts, OperationTable
from ..outcome import Declined
from ..safe_access import read_attribute
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


def ipc_facts(case: NumbaCase, handle: Any, memory: Any, context: Any) -> Facts:
    """The facts of a handle made for this memory of a Numba context."""
    with case.driver.harness():
        identity = context.device.get_device_identity()
    return facts.ipc_handle(handle, memory, identity)
