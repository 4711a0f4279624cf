"""Kernels of real libraries on the software driver.

The driver computes nothing; the trace tells which memory each launch was given.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

#: The layout of the trace: reference/contract/src/trace/ring.rs and record.rs.
VERSION = 2
HEADER_BYTES, RECORD_BYTES, CAPACITY = 4096, 128, 1 << 14
RECORD = struct.Struct("<QIHHIIiIQ8Q3Q")
CALL, ARGUMENT = 0, 5

#: Each program prints its launches: the stream, and for every pointer that it gave, in order,
#: [value, base, size in bytes].
PROGRAMS = {
    "numba kernel": """
import numpy
from numba import cuda

@cuda.jit
def add(x, y, factor):
    x[cuda.grid(1)] += y[cuda.grid(1)] * factor

a, b = cuda.to_device(numpy.arange(8, dtype="f4")), cuda.to_device(numpy.arange(16, dtype="f8"))
stream = cuda.stream()
add[1, 8, stream](a, b[4:], 1.5)
stream.synchronize()
assert (a.copy_to_host() == numpy.arange(8)).all(), "no kernel runs"
[a, b] = [array.device_ctypes_pointer.value for array in (a, b)]
launches = [[int(stream.handle), [[a, a, 32], [b + 32, b, 128]]]]
""",
    "numba ufunc": """
import numpy
from numba import cuda, vectorize

@vectorize(["f4(f4, f4)"], target="cuda")
def add(x, y):
    return x + y

arrays = [cuda.to_device(numpy.ones(8, dtype="f4")) for _ in range(3)]
add(*arrays[:2], out=arrays[2])
addresses = [array.device_ctypes_pointer.value for array in arrays]
launches = [[0, [[address, address, 32] for address in addresses]]]
""",
    "cuda.core": '''
import numpy
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

device = Device()
device.set_current()
stream = device.create_stream()
to, other = device.allocate(64, stream=stream), device.allocate(1 << 21, stream=stream)
source = """
extern "C" __global__ void fill(float *to, int value, float *from) { to[0] = value + from[0]; }
"""
launches = []
for kind, arch in (("cubin", f"sm_{device.arch}"), ("ptx", "compute_80")):
    fill = Program(source, "c++", ProgramOptions(arch=arch)).compile(kind).get_kernel("fill")
    launch(stream, LaunchConfig(grid=1, block=1), fill, to, numpy.int32(5), int(other.handle) + 4)
    first = [int(to.handle), int(to.handle), 64]
    second = [int(other.handle) + 4, int(other.handle), 1 << 21]
    launches.append([int(stream.handle), [first, second]])
stream.sync()
''',
}


@pytest.fixture
def trace(tmp_path: pathlib.Path) -> pathlib.Path:
    """An empty trace."""
    path = tmp_path / "trace"
    with path.open("wb") as file:
        file.write(b"ALCTRACE" + struct.pack("<IIQQ", VERSION, RECORD_BYTES, CAPACITY, 0))
        file.truncate(HEADER_BYTES + CAPACITY * RECORD_BYTES)
    return path


def records(trace: pathlib.Path) -> Iterator[tuple[int, int, list[int]]]:
    """Kind, number and arguments of each record."""
    content = trace.read_bytes()
    written = struct.unpack_from("<Q", content, 24)[0]
    assert 0 < written <= CAPACITY
    for offset in range(HEADER_BYTES, HEADER_BYTES + written * RECORD_BYTES, RECORD_BYTES):
        number, _, kind, *rest = RECORD.unpack_from(content, offset)
        yield kind, number - 1, rest[6:14]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_memory_of_a_launch_is_in_the_trace(
    libraries: pathlib.Path, trace: pathlib.Path, tmp_path: pathlib.Path, program: str
) -> None:
    environment = dict(
        os.environ,
        LD_LIBRARY_PATH=str(libraries),
        ALLOCERT_TRACE=str(trace),
        # As new as the compiler, whose PTX an older driver refuses.
        ALLOCERT_DRIVER_VERSION="13050",
    )
    command = [sys.executable, "-c", PROGRAMS[program] + "import json\nprint(json.dumps(launches))"]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    calls: dict[int, list[int]] = {}
    launches: dict[int, list[Any]] = {}
    for kind, number, arguments in records(trace):
        if kind == CALL:
            calls[number] = arguments
        elif kind == ARGUMENT:
            launch, stream, _, *pointer = arguments
            assert calls[launch][4] == stream, "the launch's own record has its stream"
            launches.setdefault(launch, [stream, []])[1].append(pointer[:3])
    assert list(launches.values()) == json.loads(ended.stdout)
