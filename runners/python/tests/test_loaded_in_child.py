"""Subjects that initialize the driver while they are loaded: each child loads them."""

import pathlib
import subprocess
import sys

import pytest
from harness import Program
from runfile import findings, verdicts

NOTE = "note: the subject called the CUDA driver while it was loaded, so each case loads it anew"

PLUGIN = """
from allocert.numba import PoolManager
from numba.cuda.cudadrv.driver import driver
{made}

class Manager(PoolManager):
    def initialize(self):
        super().initialize()
        {used}
"""
CONTEXT = """from cuda.bindings import driver as bindings
bindings.cuInit(0)
_, context = bindings.cuDevicePrimaryCtxRetain(0)
bindings.cuCtxSetCurrent(context)
_, KEPT = bindings.cuMemAlloc(1024)"""

#: Makes a stream while it is loaded, and takes all memory on it. Device 0 alone.
LIBRARY = """
#include <stddef.h>
#include <stdlib.h>
typedef unsigned long long address;
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxPushCurrent_v2(void *);
int cuCtxPopCurrent_v2(void **);
int cuCtxSynchronize(void);
int cuStreamCreate(void **, unsigned);
int cuMemAllocAsync(address *, size_t, void *);
int cuMemFree_v2(address);
int cuStreamSynchronize(void *);
static void *context, *stream, *gone;
__attribute__((constructor)) static void begin(void) {
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxPushCurrent_v2(context) ||
      cuStreamCreate(&stream, 1) || cuCtxPopCurrent_v2(&gone))
    abort();
}
void *take(ptrdiff_t size, int device, void *of) {
  address block = 0;
  cuCtxPushCurrent_v2(context);
  if (cuMemAllocAsync(&block, size ? size : 1, stream)) block = 0;
  cuStreamSynchronize(stream);
  cuCtxPopCurrent_v2(&gone);
  return (void *)block;
}
void give(void *block, ptrdiff_t size, int device, void *of) {
  cuCtxPushCurrent_v2(context);
  cuCtxSynchronize();
  cuMemFree_v2((address)block);
  cuCtxPopCurrent_v2(&gone);
}
"""


@pytest.mark.parametrize(
    ("made", "used"),
    [
        pytest.param("driver.cuInit(0)", "pass", id="initializes"),
        pytest.param(
            # Contexts of other devices may read it, and may not fill it.
            CONTEXT,
            "assert int(bindings.cuMemcpyDtoH(bytearray(1024), KEPT, 1024)[0]) == 0",
            id="takes-memory",
        ),
    ],
)
def test_a_module_may_initialize_the_driver(
    allocert: Program, subjects: pathlib.Path, tmp_path: pathlib.Path, made: str, used: str
) -> None:
    (subjects / "begins.py").write_text(PLUGIN.format(made=made, used=used))
    out = tmp_path / "run.jsonl"
    arguments = ("begins:Manager", "--python", sys.executable, "--out", out)
    cases = "emm/alloc/{context-of-second-device,exact-size/size:4096}*"
    ended = allocert("run", "emm", *arguments, "--filter", cases, path=[subjects])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert NOTE in ended.stdout
    assert len(verdicts(out)) > 1 and set(verdicts(out).values()) == {"conforms"}


def test_a_library_may_initialize_the_driver(allocert: Program, tmp_path: pathlib.Path) -> None:
    source, library, out = (tmp_path / name for name in ("lib.c", "lib.so", "run.jsonl"))
    source.write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    arguments = (library, "--abi", "torch:take,give", "--filter", "place/alloc/*", "--out", out)
    ended = allocert("run", "place", *arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert NOTE in ended.stdout
    assert not any(findings(out).values())
    assert list(verdicts(out).values()).count("conforms") > 15


def test_what_keeps_a_child_from_its_case_is_shown(
    allocert: Program, subjects: pathlib.Path
) -> None:
    once = "import os, pathlib\nfile = pathlib.Path(__file__).with_suffix('.once')\n"
    once += "assert not file.exists(), 'only one process may load this'\nfile.touch()"
    (subjects / "once.py").write_text(once + PLUGIN.format(made="driver.cuInit(0)", used="pass"))
    arguments = ("once:Manager", "--python", sys.executable, "--filter", "emm/zero/after-reset")
    ended = allocert("run", "emm", *arguments, path=[subjects])
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "the case never began: " in ended.stdout
    assert "AssertionError: only one process may load this" in ended.stdout
