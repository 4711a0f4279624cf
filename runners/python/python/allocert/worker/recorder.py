"""The part of the trace that the worker writes itself: markers, and calls that only it sees.

The library that records driver calls exports C functions for it; they call no driver.
"""

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any

_STEP_BEGIN, _STEP_END, _HARNESS_BEGIN, _HARNESS_END, _CASE_BEGIN = 1, 2, 3, 4, 5
_HOST_CODE_BEGIN, _HOST_CODE_END = 6, 7
#: The result of a call that ended with an exception.
_RAISED = 1
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

    @contextlib.contextmanager
    def call(self, name: str, facts: dict[str, Any]) -> Iterator[None]:
        """Around a call of a boundary other than CUDA, such as `plugin.memalloc`.

        The inputs are taken from `facts` by name when the call begins, the outputs when it ends.
        Raises LookupError for a function that the trace does not know.
        """
        function = self._known.get(name) or self._look_up(name)
        call = self._begin(function.code, *_words(function.inputs, facts))
        result = _RAISED
        try:
            yield
            result = 0
        finally:
            self._end(call, result, *_words(function.outputs, facts))

    def _look_up(self, name: str) -> "_Function":
        code = self._function(name.encode())
        if code == _UNKNOWN_FUNCTION:
            raise LookupError(f"the trace knows no function {name}")
        function = _Function(code, _names(self._inputs(code)), _names(self._outputs(code)))
        return self._known.setdefault(name, function)


class _Function:
    """A function that the trace knows, and the names of the values that it keeps of a call."""

    def __init__(self, code: int, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        self.code, self.inputs, self.outputs = code, inputs, outputs


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


def _names(text: bytes | None) -> tuple[str, ...]:
    return tuple(text.decode().split()) if text else ()


def _words(names: tuple[str, ...], facts: dict[str, Any]) -> tuple[Any, int]:
    """Values as an array of 64-bit words and its length. What is not a plain integer is 0."""
    words = [_word(facts.get(name)) for name in names]
    return (ctypes.c_uint64 * len(words))(*words), len(words)


def _word(value: Any) -> int:
    return int(value) & _WORD if type(value) in (int, bool) else 0
