"""The part of the trace that the worker writes itself: markers, and calls that only it sees.

The library that records driver calls exports C functions for it; they call no driver.
"""

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

_STEP_BEGIN, _STEP_END, _HARNESS_BEGIN, _HARNESS_END, _CASE_BEGIN = 1, 2, 3, 4, 5
_HOST_CODE_BEGIN, _HOST_CODE_END = 6, 7
#: The result of a call that ended with an exception.
_RAISED = 1
#: The same of `place`, where other numbers are statuses of allocert_place.h.
_NO_STATUS = -(2**31)
_UNKNOWN_FUNCTION = 0xFFFF_FFFF
_WORD = 0xFFFF_FFFF_FFFF_FFFF

_Words = ctypes.POINTER(ctypes.c_uint64)


class Recorder:
    """Writes into the trace. Does nothing without one, or if the library records nothing."""

    def __init__(self, library: ctypes.CDLL) -> None:
        """`library` is the recording libcuda.so.1, loaded."""
        u32, u64, size = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t
        i32, text = ctypes.c_int32, ctypes.c_char_p
        self._marker = control(library, "allocert_trace_marker", u32, u64, returns=i32)
        self._function = control(library, "allocert_trace_function", text, returns=u32)
        self._inputs = control(library, "allocert_trace_inputs", u32, returns=text)
        self._outputs = control(library, "allocert_trace_outputs", u32, returns=text)
        self._begin = control(library, "allocert_trace_call_begin", u32, _Words, size, returns=u64)
        self._end = control(library, "allocert_trace_call_end", u64, i32, _Words, size)
        self._known: dict[str, _Function] = {}
        self._threads = threading.local()

    def case_begin(self) -> None:
        """Marks the beginning of a case."""
        self._marker(_CASE_BEGIN, 0)

    def step_begin(self, index: int) -> None:
        """Marks the beginning of a step."""
        self._marker(_STEP_BEGIN, index)

    def step_end(self, index: int) -> None:
        """Marks the end of a step."""
        self._marker(_STEP_END, index)

    @contextlib.contextmanager
    def harness(self) -> Iterator[None]:
        """Around driver calls of the worker, so that nobody takes them for the subject's.

        Inside another one of the same thread it adds nothing.
        """
        if getattr(self._threads, "in_harness", False):
            yield
            return
        self._threads.in_harness = True
        self._marker(_HARNESS_BEGIN, 0)
        try:
            yield
        finally:
            self._marker(_HARNESS_END, 0)
            self._threads.in_harness = False

    @contextlib.contextmanager
    def host_code(self) -> Iterator[None]:
        """Around code of the host that the subject calls or inherits."""
        self._marker(_HOST_CODE_BEGIN, 0)
        try:
            yield
        finally:
            self._marker(_HOST_CODE_END, 0)

    def call(self, name: str, facts: dict[str, Any]) -> "_Call":
        """Around a call of a boundary other than CUDA, such as `plugin.memalloc`.

        The inputs are taken from `facts` by name when the call begins, the outputs when it ends.
        Raises LookupError for a function that the trace does not know.
        """
        return _Call(self._known.get(name) or self._look_up(name), facts)

    def _look_up(self, name: str) -> "_Function":
        code = self._function(name.encode())
        if code == _UNKNOWN_FUNCTION:
            raise LookupError(f"the trace knows no function {name}")
        inputs, outputs = _Values(self._inputs(code)), _Values(self._outputs(code))
        raised = _NO_STATUS if name.startswith("place.") else _RAISED
        function = _Function(code, inputs, outputs, raised, self._begin, self._end)
        return self._known.setdefault(name, function)


class _Values:
    """The names of the values that the trace keeps of one end of a call."""

    def __init__(self, names: bytes | None) -> None:
        self._names = tuple(names.decode().split()) if names else ()
        self._array = ctypes.c_uint64 * len(self._names)

    def words(self, facts: dict[str, Any]) -> tuple[Any, int]:
        """As an array of 64-bit words and its length. What is not a plain integer is 0."""
        return self._array(*[_word(facts.get(name)) for name in self._names]), len(self._names)


class _Function(NamedTuple):
    """A function that the trace knows, and what writes the ends of its calls."""

    code: int
    inputs: _Values
    outputs: _Values
    #: The result of a call that raises.
    raised: int
    begin: Callable[..., Any]
    end: Callable[..., Any]


class _Call:
    """A call while it runs. A generator would take as long as the call of a handler."""

    __slots__ = ("_facts", "_function", "_number")

    def __init__(self, function: _Function, facts: dict[str, Any]) -> None:
        self._function, self._facts, self._number = function, facts, 0

    def __enter__(self) -> None:
        function = self._function
        self._number = function.begin(function.code, *function.inputs.words(self._facts))

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        function = self._function
        result = 0 if error is None else function.raised
        function.end(self._number, result, *function.outputs.words(self._facts))


def control(
    library: ctypes.CDLL, name: str, *arguments: Any, returns: Any = None
) -> Callable[..., Any]:
    """A control function of the recording driver; on another driver one that does nothing."""
    function: Any = getattr(library, name, None)
    if function is None:
        return lambda *_arguments: 0
    function.argtypes, function.restype = arguments, returns
    found: Callable[..., Any] = function
    return found


def _word(value: Any) -> int:
    return int(value) & _WORD if type(value) in (int, bool) else 0
