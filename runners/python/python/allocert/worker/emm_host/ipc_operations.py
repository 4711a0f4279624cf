"""The operations on memory of a second process, which the host under test opens by its handle."""

import contextlib
import weakref

import numpy

from ..emm_shared import facts, peer_process
from ..emm_shared.context_manager import LeaveEarly
from ..operations import Arguments, Facts, OperationTable
from ..uniform import uniform_byte
from .api_operations import bind_array
from .case import HostCase

OPERATIONS: OperationTable[HostCase] = OperationTable()


@OPERATIONS.register
def foreign_handle(case: HostCase, _on: str, arguments: Arguments) -> Facts:
    size, device, offset = arguments["size"], arguments.get("device", 0), arguments.get("offset", 0)
    peer = peer_process.Peer(
        {"size_bytes": size, "byte": arguments["byte"], "device": device, "offset": offset}
    )
    raw = bytes.fromhex(peer.answer["handle"])
    with case.driver.harness():
        identity = case.host.gpus[device].get_device_identity()
    # Without a base, as a handle that was pickled arrives.
    handle = case.host.IpcHandle(None, facts.driver_handle(raw), size, identity, offset=offset)
    weakref.finalize(handle, peer.end)
    case.bindings.bind(arguments["as"], handle)
    return {"handle": raw.hex(), "size_bytes": size, "offset_bytes": offset}


@OPERATIONS.register
def open_handle(case: HostCase, _on: str, arguments: Arguments) -> Facts:
    handle, byte = case.bindings.get(arguments["handle"]), numpy.dtype(numpy.uint8)
    array = handle.open_array(case.host.current_context(), shape=(handle.size,), dtype=byte)
    return bind_array(case, arguments, array)


@OPERATIONS.register
def close_handle(case: HostCase, _on: str, arguments: Arguments) -> None:
    case.bindings.get(arguments["handle"]).close()


@OPERATIONS.register
def handle_block(case: HostCase, _on: str, arguments: Arguments) -> Facts:
    handle = case.bindings.get(arguments["handle"])
    raw, data = facts.handle_bytes(handle), b""
    opened = case.host.open_ipc_array(raw, handle.size, numpy.uint8, offset=handle.offset)
    with contextlib.suppress(LeaveEarly), opened as array:
        data = array.copy_to_host().tobytes()
        if arguments.get("raising", False):
            raise LeaveEarly("leaving the block through an exception")
    return {"uniform": uniform_byte(data), "bytes_read": len(data)}
