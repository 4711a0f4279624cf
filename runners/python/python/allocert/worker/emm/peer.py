"""The second process of an IPC case: opens a handle with plain driver calls, reads, closes.

Numba's own IpcHandle is left out on purpose: whether the *handle* is right is asked, not whether Numba can pickle it.
"""

import ctypes
import json
import os
import subprocess
import sys

TIMEOUT_S = 8
_LAZY_ENABLE_PEER_ACCESS = 1
#: What an interpreter is asked to run: the folder of the worker.
_WORKER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


def read(handle, offset, size_bytes, device):
    """The facts of `peer_read`; DriverError where a call of the peer failed."""
    from ..outcome import DriverError
    from .transfer import Unusable

    asked = {"handle": handle.hex(), "offset": offset, "size_bytes": size_bytes, "device": device}
    # The trace is this process's: two writers would tell two stories in one ring.
    environment = {name: value for name, value in os.environ.items() if name != "ALLOCERT_TRACE"}
    command = [sys.executable, "-I", _WORKER, "--peer"]
    ended = subprocess.run(
        command, input=json.dumps(asked).encode(), capture_output=True, env=environment, timeout=TIMEOUT_S, check=False
    )
    if ended.returncode != 0:
        shown = ended.stderr.decode("utf-8", "replace")[-500:]
        raise Unusable(f"the second process ended with {ended.returncode}: {shown}")
    answer = json.loads(ended.stdout)
    if "call" in answer:
        raise DriverError(f"{answer['call']} in the second process", answer["code"])
    return answer


def main():
    """The second process: a request on stdin, an answer on stdout."""
    from ..outcome import DriverError

    asked = json.load(sys.stdin)
    try:
        answer = {"uniform": _uniform(asked)}
    except DriverError as error:
        answer = {"call": str(error).split(" ")[0], "code": error.code}
    json.dump(answer, sys.stdout)
    sys.stdout.flush()
    os._exit(0)


def _uniform(asked):
    from ..driver import Driver

    driver = Driver()
    handle = Handle.from_buffer_copy(bytes.fromhex(asked["handle"]))
    device, context, base = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    driver.call("cuInit", ctypes.c_uint(0))
    driver.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(asked["device"]))
    driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    driver.call("cuCtxSetCurrent", context)
    driver.call("cuIpcOpenMemHandle_v2", ctypes.byref(base), handle, ctypes.c_uint(_LAZY_ENABLE_PEER_ACCESS))
    data = driver.read(base.value + asked["offset"], asked["size_bytes"])
    driver.call("cuIpcCloseMemHandle", base)
    return data[0] if data and data.count(data[0]) == len(data) else None
