"""The operations that let NumPy call the handler.

Each does the same under NumPy's own handler first, and compares.
"""

import contextlib
import gc
import io
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ..checked_memory import MemoryFault
from ..operations import Arguments, Facts, OperationTable
from ..outcome import Declined, Missing, UnusableSubject
from ..safe_text import bounded, type_name
from . import capsules, numpy_handlers
from .case import HandlerCase, MadeArray
from .handler import NullFunction, handler_bytes

OPERATIONS: OperationTable[HandlerCase] = OperationTable()


@contextlib.contextmanager
def _installed(case: HandlerCase) -> Iterator[None]:
    """Inside its block NumPy calls the subject, and each call is recorded."""
    handler = case.subject.handler
    missing = handler.null_functions()
    if missing:
        raise NullFunction(f"the handler's {missing[0]} is null, so NumPy cannot call it")
    handler.check_usable()
    try:
        with case.recorded_handler().installed():
            yield
    finally:
        # Whatever NumPy raised, it called what stands in the structure now.
        handler.check_usable()


def _content(array: Any) -> Any:
    """All that an array holds, in memory of Python; without the padding of its elements."""
    return array.dtype.str, array.shape, array.tolist()


def _compared(case: HandlerCase, make: Callable[[], Any]) -> Facts:
    expected = _content(make())
    with _installed(case):
        array = make()
    return {"equal": _content(array) == expected}


@OPERATIONS.register
def np_name(case: HandlerCase, _on: str, _arguments: Arguments) -> Facts:
    names = numpy_handlers.multiarray()
    # Another name of the capsule is a finding of its own.
    before = numpy_handlers.install(capsules.named(case.subject.handler.address))
    try:
        return {"name": names.get_handler_name(), "version": names.get_handler_version()}
    finally:
        numpy_handlers.install(before)


@OPERATIONS.register
def np_make(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    make, dtype, shape = arguments["make"], arguments["dtype"], tuple(arguments["shape"])
    _check_known(dtype)
    expected = _content(_make(make, dtype, shape))
    with _installed(case):
        array = _make(make, dtype, shape)
    case.arrays[arguments["as"]] = MadeArray(array, expected)
    return {"equal": _content(array) == expected, "pointer": int(array.ctypes.data)}


def _check_known(dtype: str) -> None:
    """Raises Declined if this NumPy does not know a data type."""
    import numpy as np

    try:
        np.dtype(dtype)
    except TypeError:
        raise Declined(f"NumPy {np.__version__} has no data type `{dtype}`") from None


def _make(make: str, dtype: str, shape: tuple[int, ...]) -> Any:
    import numpy as np

    if make == "empty":
        array = np.empty(shape, dtype)
        array[...] = 1
        return array
    if make == "list":
        return np.array(np.full(shape, 1).tolist(), dtype)
    if make == "joined":
        return np.concatenate([np.ones(shape, dtype), np.zeros(shape, dtype)])
    return {"zeros": np.zeros, "ones": np.ones}[make](shape, dtype)


@OPERATIONS.register
def np_compare(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    try:
        made = case.arrays[arguments["array"]]
    except KeyError:
        raise Missing(arguments["array"]) from None
    return {"equal": _content(made.array) == made.content}


@OPERATIONS.register
def np_resize(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    dtype, count, new_count = arguments["dtype"], arguments["count"], arguments["new_count"]
    return _compared(case, lambda: _resized(dtype, count, new_count))


def _resized(dtype: str, count: int, new_count: int) -> Any:
    import numpy as np

    array = np.arange(count).astype(dtype)
    array.resize(new_count, refcheck=False)
    return array


@OPERATIONS.register
def np_read(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    source, dtype, count = arguments["source"], arguments["dtype"], arguments["count"]
    return _compared(case, lambda: _read(source, dtype, count))


def _read(source: str, dtype: str, count: int) -> Any:
    import numpy as np

    if source == "iterator":
        return np.fromiter((number for number in range(count)), dtype)
    if source == "text":
        return np.fromstring(_text(count), dtype, sep=" ")
    if source == "text_file":
        return _read_file(_text(count).encode(), dtype, sep=" ")
    if source == "binary_file":
        return _read_file(np.arange(count).astype(dtype).tobytes(), dtype, count=count + 1)
    if source == "table":
        return np.loadtxt(io.StringIO("\n".join(map(str, range(count)))), dtype)
    protocol = {"pickle2": 2, "pickle5": 5}[source]
    return pickle.loads(pickle.dumps(np.arange(count).astype(dtype), protocol))


def _text(count: int) -> str:
    return " ".join(map(str, range(count)))


def _read_file(content: bytes, dtype: str, **arguments: Any) -> Any:
    import numpy as np

    # A file in memory: a full disk is not the subject's fault.
    with open(os.memfd_create("content"), "w+b") as file:
        file.write(content)
        file.seek(0)
        return np.fromfile(file, dtype, **arguments)


@OPERATIONS.register
def np_sort(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    dtype, count, step = arguments["dtype"], arguments["count"], arguments["step"]
    indices = arguments.get("indices", False)
    return _compared(case, lambda: _sorted(dtype, count, step, indices))


def _sorted(dtype: str, count: int, step: int, indices: bool) -> Any:
    import numpy as np

    # Multiples of a number without a common factor come in no order.
    array = (np.arange(count * step) * 7919 % (count * step)).astype(dtype)
    chosen = array[::step]
    if indices:
        return chosen.argsort()
    chosen.sort()
    return array


@OPERATIONS.register
def np_refuse(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    expected = _raised_by_refusal(arguments["count"])
    with _installed(case):
        raised = _raised_by_refusal(arguments["count"])
    return {"raised": raised, "equal": raised == expected}


@OPERATIONS.register
def np_outlive(case: HandlerCase, _on: str, _arguments: Arguments) -> Facts:
    import numpy as np

    expected = list(range(100))
    manager = case.subject.new_manager()
    if manager is None:
        raise Declined("it is no context manager that can be entered twice")
    with contextlib.ExitStack() as left:
        _enter(manager, left)
        address = capsules.pointer_of(numpy_handlers.current())
        before = handler_bytes(address)
        array = np.array(expected)
    del manager, left
    gc.collect()
    kept = _is_still(address, before)
    equal = array.tolist() == expected
    if not kept:
        # Its end would call what is there now.
        _kept_for_ever.append(array)
    return {"kept": kept, "equal": equal}


def _enter(manager: Any, left: contextlib.ExitStack) -> None:
    """Enters the subject. Raises Declined if it can be entered only once."""
    try:
        manager.__enter__()
    except Exception as error:  # noqa: BLE001 - whatever the subject raises
        raise Declined(f"it raised {type_name(error)} when it was entered again") from None
    left.callback(_leave, manager)


def _leave(manager: Any) -> None:
    """Leaves the subject. Raises UnusableSubject if it raises."""
    try:
        manager.__exit__(None, None, None)
    except Exception as error:  # noqa: BLE001 - as above
        raise UnusableSubject(
            f"the subject's __exit__ raised {type_name(error)}: {bounded(error, 200)}; no user can"
            " leave a block that it installs a handler for"
        ) from None


#: Arrays whose handler is gone.
_kept_for_ever: list[Any] = []


def _is_still(address: int, content: bytes) -> bool:
    try:
        return handler_bytes(address) == content
    except MemoryFault:
        return False


def _raised_by_refusal(count: int) -> str | None:
    import numpy as np

    try:
        np.array([1.0] * count + ["no number"], dtype=float)
    except Exception as error:  # noqa: BLE001 - whatever NumPy raises is a fact
        return type_name(error)
    return None


@OPERATIONS.register
def np_threads(case: HandlerCase, _on: str, arguments: Arguments) -> Facts:
    count, times = arguments["count"], arguments["times"]
    work = _Threads(case, count, times)
    return work.run(arguments["threads"])


class _Threads:
    """Threads that do the same at once."""

    def __init__(self, case: HandlerCase, count: int, times: int) -> None:
        self._case, self._count, self._times = case, count, times
        self._expected = self._round()
        self._changed: list[int] = []
        self._errors: list[BaseException] = []

    def run(self, threads: int) -> Facts:
        started = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        if self._errors:
            raise self._errors[0]
        return {"changed": sum(self._changed)}

    def _work(self) -> None:
        try:
            with _installed(self._case):
                rounds = [self._round() for _ in range(self._times)]
        except BaseException as error:  # noqa: BLE001 - the step raises it on its own thread
            self._errors.append(error)
            return
        self._changed.append(sum(found != self._expected for found in rounds))

    def _round(self) -> Any:
        count = self._count
        arrays = (
            _make("zeros", "float64", (count,)),
            _read("text", "float64", count),
            _resized("float64", count, count * 2),
        )
        return [_content(array) for array in arrays]
