"""The second process of an IPC case, which makes plain driver calls.

It opens a handle, reads the memory and closes it, or it makes a handle and waits. It does without
Numba's IpcHandle: a case asks whether the handle is right, not whether Numba can pickle it.
"""

import ctypes
import json
import os
import select
import subprocess
import sys
from typing import IO, Any, NoReturn

from ..driver import Driver
from ..operations import Facts
from ..outcome import DriverError
from ..uniform import uniform_byte

_TIMEOUT_S = 8
_LAZY_ENABLE_PEER_ACCESS = 1
#: The folder of the worker, which the second interpreter runs.
_WORKER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class PeerFailed(Exception):
    """The second process did not answer."""


class _Handle(ctypes.Structure):
    """CUipcMemHandle."""

    _fields_ = (("bytes", ctypes.c_ubyte * 64),)


def read(handle: bytes, offset: int, size_bytes: int, device: int) -> Facts:
    """Lets a second process read memory by its handle.

    Raises DriverError if a driver call of that process fails, and PeerFailed.
    """
    request = {
        "handle": handle.hex(),
        "offset": offset,
        "size_bytes": size_bytes,
        "device": device,
    }
    peer = Peer(request)
    try:
        return peer.answer
    finally:
        peer.end()


class Peer:
    """A second process that answers one request and runs until `end`, or until this one ends."""

    def __init__(self, request: dict[str, Any]) -> None:
        """Starts it and waits for the answer. Raises DriverError and PeerFailed as `read` does."""
        # The trace belongs to this process: the ring has one writer.
        environment = {
            name: value for name, value in os.environ.items() if name != "ALLOCERT_TRACE"
        }
        # It needs nothing of the installed packages, whose .pth files cost more than all else.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", _WORKER, "--peer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        try:
            self.answer = self._ask(request)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Ends the process, which frees its memory."""
        try:
            self._process.communicate(timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def _ask(self, request: dict[str, Any]) -> Facts:
        stdin, stdout = _open(self._process.stdin), _open(self._process.stdout)
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        if not select.select([stdout], [], [], _TIMEOUT_S)[0]:
            raise PeerFailed(f"the second process does not answer within {_TIMEOUT_S} s")
        line = stdout.readline()
        if not line:
            _, complaint = self._process.communicate()
            code, text = self._process.returncode, complaint.decode("utf-8", "replace")[-500:]
            raise PeerFailed(f"the second process ended with {code}: {text}")
        answer: Facts = json.loads(line)
        if "call" in answer:
            raise DriverError(f"{answer['call']} in the second process", answer["code"])
        return answer


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None, "Popen was asked for a pipe"
    return stream


def serve() -> NoReturn:
    """The second process: reads a request from stdin, answers on stdout, waits for stdin's end."""
    request = json.loads(sys.stdin.readline())
    try:
        driver = _start_driver(request["device"])
        answer = _read(driver, request) if "handle" in request else _share(driver, request)
    except DriverError as error:
        answer = {"call": str(error).split(" ", maxsplit=1)[0], "code": error.code}
    print(json.dumps(answer), flush=True)
    sys.stdin.read()
    os._exit(0)


def _start_driver(ordinal: int) -> Driver:
    """The driver, with the primary context of this device current."""
    driver = Driver()
    device, context = ctypes.c_int(), ctypes.c_void_p()
    driver.call("cuInit", ctypes.c_uint(0))
    driver.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(ordinal))
    driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    driver.call("cuCtxSetCurrent", context)
    return driver


def _read(driver: Driver, request: dict[str, Any]) -> Facts:
    handle = _Handle.from_buffer_copy(bytes.fromhex(request["handle"]))
    base, flags = ctypes.c_uint64(), ctypes.c_uint(_LAZY_ENABLE_PEER_ACCESS)
    driver.call("cuIpcOpenMemHandle_v2", ctypes.byref(base), handle, flags)
    data = driver.read(base.value + request["offset"], request["size_bytes"])
    driver.call("cuIpcCloseMemHandle", base)
    return {"uniform": uniform_byte(data)}


def _share(driver: Driver, request: dict[str, Any]) -> Facts:
    """The handle of new memory. From its offset on it holds the byte, before that another one."""
    offset, size_bytes, byte = request["offset"], request["size_bytes"], request["byte"]
    start, handle = ctypes.c_uint64(), _Handle()
    driver.call("cuMemAlloc_v2", ctypes.byref(start), ctypes.c_size_t(offset + size_bytes))
    if offset:
        driver.fill(start.value, byte ^ 0xFF, offset)
    driver.fill(start.value + offset, byte, size_bytes)
    driver.call("cuCtxSynchronize")
    driver.call("cuIpcGetMemHandle", ctypes.byref(handle), start)
    return {"handle": bytes(handle.bytes).hex()}
