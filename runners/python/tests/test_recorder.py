"""The recorder in a worker that calls no CUDA: what it writes, read record by record."""

import os
import pathlib
import struct
import subprocess
import sys
from typing import Any

#: The layout of a trace: `trace::ring` and `trace::record` of reference/contract.
MAGIC, VERSION, HEADER_BYTES, RECORD_BYTES, CAPACITY = b"ALCTRACE", 2, 4096, 128, 64
RECORD = struct.Struct("<QIHHIIiIQ8Q3Q")
ENTERED, RETURNED = 1, 2

PROGRAM = """
import ctypes, os, sys
from allocert.worker.recorder import Recorder

recorder = Recorder(ctypes.CDLL(sys.argv[1]))
recorder.case_begin()
facts = {"ctx": 0, "size": 64}
with recorder.call("handler.malloc", facts):
    facts["ptr"] = 2**64 - 1
try:
    with recorder.call("place.alloc", {"kind": True, "device": -1, "size_bytes": "many"}):
        raise MemoryError
except MemoryError:
    pass
try:
    recorder.call("handler.mallocate", {}).__enter__()
except LookupError as error:
    print(error)
with recorder.call("handler.free", {"ctx": 0, "ptr": 16, "size": 64}):
    os._exit(0)
"""


#: NumPy takes and frees a block by a handler that records, in the library and out of Python.
NUMPY_PROGRAM = """
import ctypes, sys
ctypes.CDLL(sys.argv[1])
import numpy as np
from allocert import _allocert
handler = _allocert.RecordingHandler()
previous = _allocert.set_data_handler(handler.capsule())
array = np.empty(10)
array.resize(20, refcheck=False)
_allocert.set_data_handler(previous)
handler.fail("realloc")
try:
    array.resize(30, refcheck=False)
except MemoryError:
    print(array.ctypes.data)
"""


def test_calls_of_any_boundary_are_recorded_without_cuda(
    libraries: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    run, trace = run_recorded(PROGRAM, libraries, tmp_path)
    assert run.stderr == ""
    assert "handler.mallocate" in run.stdout
    case, malloc, alloc, free = records(trace)
    assert case["args"][0] == 5, "a case begins"
    assert (malloc["state"], malloc["result"]) == (RETURNED, 0)
    assert (malloc["args"][:2], malloc["out"][0]) == ((0, 64), 2**64 - 1)
    assert (alloc["state"], alloc["result"]) == (RETURNED, -(2**31)), "it raised"
    assert alloc["args"][:3] == (1, 2**64 - 1, 0), "what is not an integer is 0"
    assert free["state"] == ENTERED, "it never returned"


def test_calls_of_numpy_are_recorded_until_the_process_ends(
    libraries: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    run, trace = run_recorded(NUMPY_PROGRAM, libraries, tmp_path)
    malloc, realloc, failed, free = records(trace)
    address = int(run.stdout)
    assert malloc["args"][:2] == (0, 80)
    assert realloc["args"][:3] == (0, malloc["out"][0], 160)
    assert realloc["out"][0] == address
    assert failed["args"][:3] == (0, address, 240)
    assert failed["out"][0] == 0
    assert free["args"][:3] == (0, address, 160)
    assert all(call["state"] == RETURNED for call in (malloc, realloc, failed, free))


def run_recorded(
    program: str, libraries: pathlib.Path, tmp_path: pathlib.Path
) -> tuple[subprocess.CompletedProcess[str], pathlib.Path]:
    """Runs a program, which gets the path of the driver, and gives what it printed and recorded."""
    trace = tmp_path / "trace"
    header = struct.pack("<8sIIQQ", MAGIC, VERSION, RECORD_BYTES, CAPACITY, 0)
    trace.write_bytes(header.ljust(HEADER_BYTES + CAPACITY * RECORD_BYTES, b"\0"))
    driver = libraries / "libcuda.so.1"
    environment = dict(
        os.environ,
        ALLOCERT_TRACE=str(trace),
        # A call of CUDA would complain that there is no such driver.
        ALLOCERT_MODE="forward",
        ALLOCERT_REAL_DRIVER="/nonexistent",
    )
    run = subprocess.run(
        [sys.executable, "-c", program, driver],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return run, trace


def records(trace: pathlib.Path) -> list[dict[str, Any]]:
    found = []
    content = trace.read_bytes()
    for offset in range(HEADER_BYTES, len(content), RECORD_BYTES):
        number, state, _, function, _, _, result, _, _, *words = RECORD.unpack_from(content, offset)
        if number != 0:
            call = {"state": state, "function": function, "result": result}
            found.append({**call, "args": tuple(words[:8]), "out": tuple(words[8:])})
    return found
