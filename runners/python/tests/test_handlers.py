"""Real handlers of NumPy's data allocation: allocators of others, by themselves and under NumPy."""

import importlib.util
import pathlib
import subprocess
import sys

import allocert.numpy
import pytest
from harness import ROOT, Program

#: A handler over `PREFIX_malloc()` and its like.
SHIM = """
#include <stddef.h>
void *PREFIX_malloc(size_t);
void *PREFIX_calloc(size_t, size_t);
void *PREFIX_realloc(void *, size_t);
void PREFIX_free(void *);
static void *take(void *ctx, size_t size) { (void)ctx; return PREFIX_malloc(size); }
static void *clear(void *ctx, size_t n, size_t size) { (void)ctx; return PREFIX_calloc(n, size); }
static void *resize(void *ctx, void *p, size_t size) { (void)ctx; return PREFIX_realloc(p, size); }
static void give(void *ctx, void *p, size_t size) { (void)ctx; (void)size; PREFIX_free(p); }
struct handler {
  char name[127];
  unsigned char version;
  void *ctx;
  void *(*malloc)(void *, size_t);
  void *(*calloc)(void *, size_t, size_t);
  void *(*realloc)(void *, void *, size_t);
  void (*free)(void *, void *, size_t);
};
struct handler allocert_nep49_handler = {"shim", 1, 0, take, clear, resize, give};
"""

#: A class of numpy-allocator whose functions are those of libc.
NUMPY_ALLOCATOR = """
import ctypes
import numpy_allocator

libc = ctypes.CDLL(None)

class Allocator(metaclass=numpy_allocator.type):
    _malloc_ = ctypes.addressof(libc.malloc)
    _calloc_ = ctypes.addressof(libc.calloc)
    _realloc_ = ctypes.addressof(libc.realloc)
    _free_ = ctypes.addressof(libc.free)
"""


def shim(folder: pathlib.Path, prefix: str, *more: str) -> pathlib.Path:
    """The compiled handler."""
    source, library = folder / "shim.c", folder / "shim.so"
    source.write_text(SHIM.replace("PREFIX_", prefix))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, *more], check=True)
    return library


def mimalloc() -> list[str]:
    """How a program links the library of the package cmeel-mimalloc."""
    found = importlib.util.find_spec("cmeel")
    assert found is not None and found.submodule_search_locations, "cargo xtask package"
    packages = pathlib.Path(found.submodule_search_locations[0]).parent
    folder = packages / "cmeel.prefix/lib"
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lmimalloc"]


def test_the_handler_of_the_page_conforms(allocert: Program, tmp_path: pathlib.Path) -> None:
    page = (ROOT / "docs/write-a-handler.md").read_text()
    source, library = tmp_path / "example.c", tmp_path / "example.so"
    source.write_text(page.split("```c\n")[1].split("```")[0])
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    certifies(allocert, library, path=[])


def certifies(allocert: Program, *arguments: object, path: list[pathlib.Path]) -> None:
    ended = allocert("run", "nep49", *arguments, "--python", sys.executable, path=path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "no violation; " in ended.stdout


@pytest.mark.parametrize("prefix", ["", "mi_"], ids=["libc", "mimalloc"])
def test_an_allocator_behind_a_shim_conforms(
    prefix: str, allocert: Program, subjects: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    library = shim(tmp_path, prefix, *(mimalloc() if prefix else []))
    certifies(allocert, library, path=[])
    subject = f"import allocert.numpy\nhandler = allocert.numpy.library({str(library)!r})\n"
    (subjects / "shimmed.py").write_text(subject)
    certifies(allocert, "shimmed:handler", path=[subjects])


def test_an_allocator_of_python_behind_a_shim_conforms(
    allocert: Program, subjects: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """The functions for which Python needs no GIL. Only a process of Python has them."""
    names = {"malloc": "Malloc", "calloc": "Calloc", "realloc": "Realloc", "free": "Free"}
    defines = [f"-Dpython_{name}=PyMem_Raw{python}" for name, python in names.items()]
    library = shim(tmp_path, "python_", *defines)
    subject = f"import allocert.numpy\nhandler = allocert.numpy.library({str(library)!r})\n"
    (subjects / "python_memory.py").write_text(subject)
    certifies(allocert, "python_memory:handler", path=[subjects])


def test_numpy_allocator_conforms(allocert: Program, subjects: pathlib.Path) -> None:
    (subjects / "allocators.py").write_text(NUMPY_ALLOCATOR)
    certifies(allocert, "allocators:Allocator", path=[subjects])


def test_a_library_without_a_handler_is_refused(tmp_path: pathlib.Path) -> None:
    library = shim(tmp_path, "")
    assert allocert.numpy.library(library) is allocert.numpy.library(library)
    with pytest.raises(ValueError, match="has no symbol mine"):
        allocert.numpy.library(library, "mine")
    with pytest.raises(OSError, match=r"none\.so"):
        allocert.numpy.library(tmp_path / "none.so")
