"""The operations on memory that a second process shares, which the host under test opens."""

import weakref

import numpy

from ...operation import operation
from .. import facts, peer, transfer
from ..hosted import bind_array
from ..scope import Leaving


@operation
def foreign_handle(case, _on, arguments):
    size, device, offset = arguments["size"], arguments.get("device", 0), arguments.get("offset", 0)
    sharer = peer.Peer(
        {"size_bytes": size, "byte": arguments["byte"], "device": device, "offset": offset}
    )
    raw = bytes.fromhex(sharer.answer["handle"])
    with case.driver.harness():
        identity = case.host.gpus[device].get_device_identity()
    # As a handle arrives that was pickled: without a base.
    handle = case.host.IpcHandle(None, facts.driver_handle(raw), size, identity, offset=offset)
    weakref.finalize(handle, sharer.end)
    case.names.bind(arguments["as"], handle)
    return {"handle": raw.hex(), "size_bytes": size, "offset_bytes": offset}


@operation
def open_handle(case, _on, arguments):
    handle, byte = case.names.get(arguments["handle"]), numpy.dtype(numpy.uint8)
    array = handle.open_array(case.host.current_context(), shape=(handle.size,), dtype=byte)
    return bind_array(case, arguments, array)


@operation
def close_handle(case, _on, arguments):
    case.names.get(arguments["handle"]).close()


@operation
def handle_block(case, _on, arguments):
    handle = case.names.get(arguments["handle"])
    raw, data = facts.handle_bytes(handle), b""
    try:
        with case.host.open_ipc_array(raw, handle.size, numpy.uint8, offset=handle.offset) as array:
            data = array.copy_to_host().tobytes()
            if arguments.get("raising", False):
                raise Leaving("leaving the block through an exception")
    except Leaving:
        pass
    return {"uniform": transfer.uniform_byte(data), "bytes_read": len(data)}
