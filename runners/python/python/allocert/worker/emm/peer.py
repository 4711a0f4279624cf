"""The second process of an IPC case, with plain driver calls: opens a handle, reads and closes it, or makes one and waits.

Numba's own IpcHandle is left out on purpose: whether the *handle* is right is asked, not whether Numba can pickle it.
"""

import ctypes
import json
import os
import select
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
    peer = Peer(
        {"handle": handle.hex(), "offset": offset, "size_bytes": size_bytes, "device": device}
    )
    try:
        return peer.answer
    finally:
        peer.end()


class Peer:
    """A second process that was asked something and lives until its end is wanted, or this process is gone."""

    def __init__(self, asked):
        """DriverError where a call of the second process failed."""
        # The trace is this process's: two writers would tell two stories in one ring.
        environment = {
            name: value for name, value in os.environ.items() if name != "ALLOCERT_TRACE"
        }
        command, pipe = [sys.executable, "-I", _WORKER, "--peer"], subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
        )
        try:
            self.answer = self._ask(asked)
        except BaseException:
            self.end()
            raise

    def end(self):
        """Its memory goes with it."""
        try:
            self._process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def _ask(self, asked):
        from ..outcome import DriverError
        from .transfer import Unusable

        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], TIMEOUT_S)[0]:
            raise Unusable(f"the second process does not answer within {TIMEOUT_S} s")
        line = self._process.stdout.readline()
        if not line:
            _, complaint = self._process.communicate()
            shown = complaint.decode("utf-8", "replace")[-500:]
            raise Unusable(f"the second process ended with {self._process.returncode}: {shown}")
        answer = json.loads(line)
        if "call" in answer:
            raise DriverError(f"{answer['call']} in the second process", answer["code"])
        return answer


def main():
    """The second process: a request on stdin, an answer on stdout, and then nothing until stdin ends."""
    from ..outcome import DriverError

    asked = json.loads(sys.stdin.readline())
    try:
        driver = _started(asked["device"])
        answer = _uniform(driver, asked) if "handle" in asked else _shared(driver, asked)
    except DriverError as error:
        answer = {"call": str(error).split(" ")[0], "code": error.code}
    print(json.dumps(answer), flush=True)
    sys.stdin.read()
    os._exit(0)


def _started(ordinal):
    """The driver, with the primary context of this device current."""
    from ..driver import Driver

    driver = Driver()
    device, context = ctypes.c_int(), ctypes.c_void_p()
    driver.call("cuInit", ctypes.c_uint(0))
    driver.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(ordinal))
    driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    driver.call("cuCtxSetCurrent", context)
    return driver


def _uniform(driver, asked):
    handle, base = Handle.from_buffer_copy(bytes.fromhex(asked["handle"])), ctypes.c_uint64()
    driver.call(
        "cuIpcOpenMemHandle_v2", ctypes.byref(base), handle, ctypes.c_uint(_LAZY_ENABLE_PEER_ACCESS)
    )
    data = driver.read(base.value + asked["offset"], asked["size_bytes"])
    driver.call("cuIpcCloseMemHandle", base)
    return {"uniform": data[0] if data and data.count(data[0]) == len(data) else None}


def _shared(driver, asked):
    """The handle of new memory. From its offset on it holds the byte, and another one before that."""
    start, size, handle = ctypes.c_uint64(), asked["offset"] + asked["size_bytes"], Handle()
    driver.call("cuMemAlloc_v2", ctypes.byref(start), ctypes.c_size_t(size))
    if asked["offset"]:
        driver.fill(start.value, asked["byte"] ^ 0xFF, asked["offset"])
    driver.fill(start.value + asked["offset"], asked["byte"], asked["size_bytes"])
    driver.call("cuCtxSynchronize")
    driver.call("cuIpcGetMemHandle", ctypes.byref(handle), start)
    return {"handle": bytes(handle.bytes).hex()}
