"""The operations on what only few programs do with a host."""

import ctypes
import tracemalloc
import warnings

from ..operations import Arguments, Facts, OperationTable
from ..safe_text import type_name
from .case import HandlerHostCase

OPERATIONS: OperationTable[HandlerHostCase] = OperationTable()

#: The domain in which NumPy traces the data of arrays.
_DOMAIN = 389047
#: Where PyArrayObject has its base and its flags, in bytes behind the head of an object.
_BASE, _FLAGS = object.__basicsize__ + 32, object.__basicsize__ + 48
#: The flag of an owner.
_OWNDATA = 4
_BYTES = 64


@OPERATIONS.register
def trace_memory(_case: HandlerHostCase, _on: str, _arguments: Arguments) -> None:
    tracemalloc.start()


@OPERATIONS.register
def traced_memory(_case: HandlerHostCase, _on: str, _arguments: Arguments) -> Facts:
    snapshot = tracemalloc.take_snapshot()
    wanted = snapshot.filter_traces((tracemalloc.DomainFilter(True, _DOMAIN),))
    sizes = [trace.size for trace in wanted.traces]
    return {"blocks": len(sizes), "bytes": sum(sizes)}


@OPERATIONS.register
def own_foreign(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    core = case.subject.private._multiarray_umath
    before = core._set_numpy_warn_if_no_mem_policy(arguments["warn"])
    try:
        array = case.host.frombuffer((ctypes.c_char * _BYTES).from_address(_malloc(_BYTES)), "u1")
        _make_owner(array)
        name, resize_error = case.handler_name(array), None
        try:
            array.resize(_BYTES * 2, refcheck=False)
        except Exception as error:  # noqa: BLE001 - whatever the host raises is a fact
            resize_error = type_name(error)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            del array
    finally:
        core._set_numpy_warn_if_no_mem_policy(before)
    return {"handler": name, "resize_error": resize_error, "warned": bool(warned)}


def _malloc(size: int) -> int:
    malloc = ctypes.CDLL(None).malloc
    malloc.argtypes, malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    block: int = malloc(size)
    return block


def _make_owner(array: object) -> None:
    """Turns an array over foreign memory into the owner of it, as PyArray_ENABLEFLAGS does."""
    base = ctypes.c_void_p.from_address(id(array) + _BASE)
    # The object behind it stays: nobody gives its reference back.
    base.value = None
    ctypes.c_int.from_address(id(array) + _FLAGS).value |= _OWNDATA


@OPERATIONS.register
def subinterpreter(case: HandlerHostCase, _on: str, _arguments: Arguments) -> Facts:
    try:
        import _interpreters as interpreters  # type: ignore[import-not-found]
    except ImportError:
        import _xxsubinterpreters as interpreters  # type: ignore[import-not-found]
    code = f"import {case.host.__name__}"
    second = interpreters.create()
    try:
        failure = interpreters.run_string(second, code)
    except Exception as error:  # noqa: BLE001 - older versions of Python raise
        failure = error
    return {"imported": failure is None}
