"""`allocert.numpy`: the handlers in daily work, and as subjects of the suite."""

import asyncio
import pathlib
import subprocess
import sys
import threading

import allocert.numpy
import numpy as np
import pytest
from allocert import _allocert
from harness import Program
from numpy._core.multiarray import get_handler_name

ORDINARY = "allocert_64_byte_aligned"
NUMPYS_OWN = "default_allocator"


def test_a_block_installs_the_handler_and_restores_the_one_before() -> None:
    with allocert.numpy.installed():
        array = np.ones(100)
        with allocert.numpy.installed(_allocert.default_data_handler()):
            assert get_handler_name() == NUMPYS_OWN
        assert get_handler_name() == ORDINARY
    assert get_handler_name() == NUMPYS_OWN
    assert get_handler_name(array) == ORDINARY
    assert array.ctypes.data % 64 == 0 and array.sum() == 100.0


def test_a_block_restores_the_handler_when_an_exception_leaves_it() -> None:
    with pytest.raises(KeyError), allocert.numpy.installed():
        raise KeyError
    assert get_handler_name() == NUMPYS_OWN


def test_the_end_of_a_block_ends_what_is_installed_in_it() -> None:
    with allocert.numpy.installed():
        allocert.numpy.install()
    assert get_handler_name() == NUMPYS_OWN
    with pytest.raises(RuntimeError, match="no handler to uninstall"):
        allocert.numpy.uninstall()
    allocert.numpy.install()
    with allocert.numpy.installed():
        allocert.numpy.uninstall()
    assert get_handler_name() == ORDINARY
    allocert.numpy.uninstall()
    assert get_handler_name() == NUMPYS_OWN


def test_install_and_uninstall_nest_and_belong_to_a_context() -> None:
    allocert.numpy.install()
    allocert.numpy.install(_allocert.default_data_handler())
    assert get_handler_name() == NUMPYS_OWN
    seen: list[object] = []

    def elsewhere() -> None:
        seen.append(get_handler_name())
        with pytest.raises(RuntimeError, match="was not called in this context"):
            allocert.numpy.uninstall()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    allocert.numpy.uninstall()
    assert get_handler_name() == ORDINARY

    async def task() -> None:
        seen.append(get_handler_name())

    asyncio.run(task())
    allocert.numpy.uninstall()
    assert get_handler_name() == NUMPYS_OWN and seen == [NUMPYS_OWN, ORDINARY]
    with pytest.raises(RuntimeError, match="no handler to uninstall"):
        allocert.numpy.uninstall()


def test_what_is_no_handler_changes_nothing() -> None:
    with pytest.raises(ValueError, match="mem_handler"):
        allocert.numpy.install(3)
    with pytest.raises(RuntimeError):
        allocert.numpy.uninstall()
    with pytest.raises(ValueError, match="only handlers of allocert count"):
        allocert.numpy.stats(_allocert.default_data_handler())


def test_the_statistics_follow_the_arrays() -> None:
    before = allocert.numpy.stats()
    with allocert.numpy.installed():
        array = np.empty(4 << 20, dtype="u1")
        zeros = np.zeros(10)
    during = allocert.numpy.stats()
    assert during.blocks == before.blocks + 2
    assert during.bytes == before.bytes + (4 << 20) + 80
    assert (during.malloc, during.calloc) == (before.malloc + 1, before.calloc + 1)
    array.resize(1000, refcheck=False)
    resized = allocert.numpy.stats()
    assert resized.bytes == before.bytes + 1080 and resized.realloc == before.realloc + 1
    del array, zeros
    after = allocert.numpy.stats()
    assert (after.blocks, after.bytes) == (before.blocks, before.bytes)
    assert after.free == before.free + 2
    assert after.peak_bytes >= during.bytes - (1 << 20)
    with allocert.numpy.installed(), pytest.raises(MemoryError):
        np.empty(1 << 62, dtype="u1")
    assert allocert.numpy.stats().failed == after.failed + 1
    assert allocert.numpy.stats().refused == before.refused


PINNED = """
import allocert.numpy, numpy as np
pinned = allocert.numpy.pinned()
assert pinned is allocert.numpy.pinned()
with allocert.numpy.installed(pinned):
    array = np.arange(1000.0)
    zeros = np.zeros(5000)
    with allocert.numpy.installed(pinned):
        np.empty(0)
    try:
        np.empty(1 << 62, dtype="u1")
    except MemoryError:
        pass
assert array.ctypes.data % 4096 == 0 and not zeros.any()
array.resize(2000, refcheck=False)
assert array[:1000].tolist() == list(range(1000)) and not array[1000:].any()
stats = allocert.numpy.stats(pinned)
assert (stats.blocks, stats.bytes, stats.peak_bytes) == (2, 56000, 64000), stats
assert (stats.malloc, stats.calloc, stats.realloc, stats.free) == (2, 1, 1, 1), stats
assert (stats.failed, stats.refused) == (1, 0), stats
del zeros
assert allocert.numpy.stats(pinned).bytes == 16000
"""

#: The context goes while arrays live; dropping them, also at exit, does no harm.
RESET = """
import ctypes, allocert.numpy, numpy as np
with allocert.numpy.installed(allocert.numpy.pinned()):
    array, kept = np.ones(1000), np.ones(1000)
assert ctypes.CDLL("libcuda.so.1").cuDevicePrimaryCtxReset_v2(0) == 0
del array
with allocert.numpy.installed(allocert.numpy.pinned()):
    assert np.ones(3).sum() == 3
print("dropped")
"""

MISSING = """
import allocert.numpy
try:
    allocert.numpy.pinned(DEVICE)
except allocert.numpy.DriverError as error:
    print(error.args[0])
"""


def run_python(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_page_locked_arrays_on_the_software_driver(libraries: pathlib.Path) -> None:
    run = run_python(PINNED, LD_LIBRARY_PATH=str(libraries))
    assert (run.returncode, run.stderr) == (0, "")


def test_page_locked_arrays_may_be_dropped_after_their_context(libraries: pathlib.Path) -> None:
    run = run_python(RESET, LD_LIBRARY_PATH=str(libraries))
    assert (run.returncode, run.stdout, run.stderr) == (0, "dropped\n", "")


@pytest.mark.parametrize(
    ("with_driver", "device", "message"),
    [
        (False, "0", "no CUDA driver: libcuda.so.1 cannot be loaded"),
        (True, "7", "cuDeviceGet returned 101 (CUDA_ERROR_INVALID_DEVICE)"),
    ],
)
def test_without_driver_or_device_pinned_raises_one_clear_error(
    tmp_path: pathlib.Path,
    libraries: pathlib.Path,
    with_driver: bool,
    device: str,
    message: str,
) -> None:
    folder = libraries if with_driver else tmp_path
    run = run_python(MISSING.replace("DEVICE", device), LD_LIBRARY_PATH=str(folder))
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(message)


@pytest.mark.parametrize("attribute", ["handler", "install", "installed", "pinned"])
def test_each_handler_conforms(allocert: Program, attribute: str) -> None:
    subject = f"allocert.numpy:{attribute}"
    run = allocert("run", "nep49", subject, "--python", sys.executable)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "no violation; " in run.stdout and "not-observed" not in run.stdout


@pytest.mark.parametrize("wrong", [1, "mem_handler", object()])
def test_what_is_no_capsule_is_named(wrong: object) -> None:
    before = _allocert.get_data_handler()
    with pytest.raises(ValueError, match=r"is no handler: install\(\) takes a capsule"):
        allocert.numpy.install(wrong)
    with pytest.raises(ValueError, match="is no handler"), allocert.numpy.installed(wrong):
        raise AssertionError("the block is not entered")
    assert _allocert.get_data_handler() is before


def test_a_block_is_entered_once_and_a_function_at_each_call() -> None:
    before = _allocert.get_data_handler()
    block = allocert.numpy.installed()
    with block:
        with pytest.raises(RuntimeError, match=r"entered before: call installed\(\) again"):
            block.__enter__()
        assert _allocert.get_data_handler() is not before
    assert _allocert.get_data_handler() is before
    with pytest.raises(RuntimeError, match="entered before"):
        block.__enter__()

    @allocert.numpy.installed()
    def current() -> object:
        return _allocert.get_data_handler()

    assert current() is current() is not before
    assert _allocert.get_data_handler() is before
