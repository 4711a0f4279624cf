"""The operations on an IPC handle that a manager made."""

import pickle as pickling

from ..operation import operation
from ..peek import read
from . import facts, peer, transfer


@operation
def pickle(case, _on, arguments):
    handle = case.names.get(arguments["handle"])
    copy = pickling.loads(pickling.dumps(handle))
    return {
        "same_handle": facts.handle_bytes(copy) == facts.handle_bytes(handle) is not None,
        "same_offset": facts.number(read(copy, "offset")) == facts.number(read(handle, "offset")),
        "same_size": facts.number(read(copy, "size")) == facts.number(read(handle, "size")),
    }


@operation
def peer_read(case, _on, arguments):
    handle = case.names.get(arguments["handle"])
    raw, offset = facts.handle_bytes(handle), facts.number(read(handle, "offset"))
    if raw is None or len(raw) != facts.HANDLE_BYTES or type(offset) is not int:
        raise transfer.Unusable("the handle holds no CUipcMemHandle and offset to open")
    context = case.context()
    device = int(context.device.id) if context is not None else 0
    with case.driver.harness():
        # What this process wrote may still be on its way; no order exists between two processes.
        case.driver.call("cuCtxSynchronize")
        return peer.read(raw, offset, arguments["size"], device)
