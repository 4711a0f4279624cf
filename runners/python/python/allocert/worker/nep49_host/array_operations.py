"""The operations that make arrays, change them, and compute from them."""

import io
import math
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ..operations import Arguments, Facts, OperationTable
from .case import HandlerHostCase

OPERATIONS: OperationTable[HandlerHostCase] = OperationTable()

#: The memory of arrays that own none. It stays, because arrays may.
_BUFFER = bytes(range(256))


class _Lent(bytearray):
    """Memory of an object whose end can be seen."""


#: The last one.
_lent: list["weakref.ref[_Lent]"] = []


@OPERATIONS.register
def make(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    dtype = case.host.dtype(arguments.get("dtype", "i8"))
    array = _MAKE[arguments["by"]](case.host, tuple(arguments["shape"]), dtype)
    case.bindings.bind(arguments["as"], array)
    return facts(case, array)


@OPERATIONS.register
def derive(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    array = _DERIVE[arguments["by"]](case.host, case.bindings.get(arguments["of"]))
    case.bindings.bind(arguments["as"], array)
    return facts(case, array)


@OPERATIONS.register
def lent_ended(_case: HandlerHostCase, _on: str, _arguments: Arguments) -> Facts:
    return {"ended": _lent[-1]() is None}


@OPERATIONS.register
def describe(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    array = case.bindings.get(arguments["array"])
    return {**facts(case, array), "items": array.tolist()}


@OPERATIONS.register
def resize(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    array = case.bindings.get(arguments["array"])
    array.resize(tuple(arguments["shape"]), refcheck=False)
    return {**facts(case, array), "items": array.tolist()}


@OPERATIONS.register
def compute(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    return {"right": _COMPUTE[arguments["what"]](case, case.bindings.get(arguments["array"]))}


def facts(case: HandlerHostCase, array: Any) -> Facts:
    """What every operation that makes an array says of it."""
    pointer = array.__array_interface__["data"][0]
    return {
        "pointer": pointer,
        "size_bytes": array.nbytes,
        "shape": list(array.shape),
        "strides": list(array.strides),
        "owner": bool(array.flags.owndata),
        "handler": case.handler_name(array),
        "version": case.handler_version(array),
        "aligned": bool(array.flags.aligned) == (pointer % array.dtype.alignment == 0),
    }


def _descending(host: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers from the size of the array down to 1, in each field."""
    fields = dtype.names
    numbers = range(math.prod(shape), 0, -1)
    items = [(number,) * len(fields) for number in numbers] if fields else list(numbers)
    made = host.array(items, dtype)
    # A reshaped array would not own its data.
    return made if len(shape) == 1 else made.reshape(shape).copy()


def _generate(shape: tuple[int, ...]) -> Iterator[int]:
    yield from range(shape[0])


def _text(shape: tuple[int, ...]) -> str:
    return " ".join(str(number) for number in range(shape[0]))


def _lines(shape: tuple[int, ...]) -> io.StringIO:
    return io.StringIO("\n".join(str(number) for number in range(shape[0])))


def _lend(host: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    memory = _Lent(_BUFFER)
    _lent[:] = [weakref.ref(memory)]
    return host.frombuffer(memory, dtype, math.prod(shape))


_MAKE: dict[str, Callable[[Any, tuple[int, ...], Any], Any]] = {
    "empty": lambda host, shape, dtype: host.empty(shape, dtype),
    "zeros": lambda host, shape, dtype: host.zeros(shape, dtype),
    "ones": lambda host, shape, dtype: host.ones(shape, dtype),
    "full": lambda host, shape, dtype: host.full(shape, 7, dtype),
    "descending": _descending,
    "iterator": lambda host, shape, dtype: host.fromiter(_generate(shape), dtype),
    "text": lambda host, shape, dtype: host.fromstring(_text(shape), dtype, sep=" "),
    "lines": lambda host, shape, dtype: host.loadtxt(_lines(shape), dtype, ndmin=1),
    "buffer": lambda host, shape, dtype: host.frombuffer(_BUFFER, dtype, math.prod(shape)),
    "lent": _lend,
}


def _set_state(host: Any, array: Any) -> Any:
    array.__setstate__((1, (3,), host.dtype("i8"), False, bytes(24)))
    return array


_DERIVE: dict[str, Callable[[Any, Any], Any]] = {
    "view": lambda _host, array: array.view(),
    "every_second": lambda _host, array: array[::2],
    "unaligned": lambda _host, array: array.view("u1")[1:-7].view("i8"),
    "copy": lambda _host, array: array.copy(),
    "convert": lambda _host, array: array.astype("f4"),
    "pick": lambda _host, array: array[[0, 1]],
    "mask": lambda _host, array: array[array > 0],
    "sum": lambda _host, array: array + array,
    "concatenate": lambda host, array: host.concatenate([array, array]),
    "pickle": lambda _host, array: pickle.loads(pickle.dumps(array, 2)),
    "set_state": _set_state,
}


def _sort(_case: HandlerHostCase, array: Any) -> bool:
    before = array.tolist()
    array.sort()
    return bool(array.tolist() == sorted(before))


def _argsort(_case: HandlerHostCase, array: Any) -> bool:
    order = array.argsort().tolist()
    items = array.tolist()
    return [items[place] for place in order] == sorted(items)


_COMPUTE: dict[str, Callable[[HandlerHostCase, Any], bool]] = {
    "sort": _sort,
    "argsort": _argsort,
    "sort_strided": lambda case, array: _sort(case, array[::2]),
    "argsort_strided": lambda case, array: _argsort(case, array[::2]),
    "unique": lambda case, array: case.host.unique(array).tolist() == sorted(set(array.tolist())),
    "sum": lambda _case, array: int(array.sum()) == sum(array.tolist()),
}
