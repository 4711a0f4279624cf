"""The handler of NumPy's data allocation that records, under real NumPy."""

import ctypes
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from allocert import _allocert
from allocert._allocert import RecordingHandler
from numpy._core.multiarray import get_handler_name

FUNCTIONS = ("malloc", "calloc", "realloc", "free")


@pytest.fixture
def handler() -> Iterator[RecordingHandler]:
    """A recording handler before libc, which NumPy uses during the test."""
    made = RecordingHandler()
    previous = _allocert.set_data_handler(made.capsule())
    yield made
    _allocert.set_data_handler(previous)


def counts(handler: RecordingHandler) -> dict[str, int]:
    return {name: handler.calls(name) for name in FUNCTIONS}


def handler_name(array: Any = None) -> str | None:
    return get_handler_name() if array is None else get_handler_name(array)


def test_numpy_takes_resizes_and_frees_through_it(handler: RecordingHandler) -> None:
    array = np.zeros(10)
    assert handler_name(array) == "allocert_recording"
    array.fill(7)
    array.resize(20, refcheck=False)
    assert array.tolist() == [7.0] * 10 + [0.0] * 10
    assert handler.calls("calloc") == handler.calls("realloc") == 1
    before = handler.calls("free")
    del array
    assert handler.calls("free") == before + 1


def test_an_array_keeps_the_handler_that_made_it() -> None:
    made = RecordingHandler()
    previous = _allocert.set_data_handler(made.capsule())
    array = np.empty(10)
    _allocert.set_data_handler(previous)
    assert handler_name() == "default_allocator"
    assert handler_name(array) == "allocert_recording"
    thread = threading.Thread(target=lambda held: held.clear(), args=([array],))
    del array
    thread.start()
    thread.join()
    del thread
    assert counts(made) == {"malloc": 1, "calloc": 0, "realloc": 0, "free": 1}


def test_one_handler_forwards_to_another(handler: RecordingHandler) -> None:
    outer = RecordingHandler(handler.address, handler)
    previous = _allocert.set_data_handler(outer.capsule())
    np.arange(3.0).resize(5)
    _allocert.set_data_handler(previous)
    assert counts(outer) == counts(handler) != dict.fromkeys(FUNCTIONS, 0)


@pytest.mark.parametrize(("function", "nth"), [("malloc", 1), ("malloc", 3), ("calloc", 2)])
def test_the_chosen_call_answers_null_and_no_other(
    handler: RecordingHandler, function: str, nth: int
) -> None:
    make = np.empty if function == "malloc" else np.zeros
    handler.fail(function, nth)
    for _ in range(nth - 1):
        make(4)
    with pytest.raises(MemoryError):
        make(4)
    assert make(4).shape == (4,)
    assert handler.calls(function) == nth + 1 and handler.calls("free") == nth


def test_a_failed_resize_leaves_the_array(handler: RecordingHandler) -> None:
    array = np.arange(4.0)
    handler.fail("realloc", count=2)
    for _ in range(2):
        with pytest.raises(MemoryError):
            array.resize(1000, refcheck=False)
    assert array.tolist() == [0.0, 1.0, 2.0, 3.0]
    array.resize(5, refcheck=False)
    assert array.tolist() == [0.0, 1.0, 2.0, 3.0, 0.0]


def test_faults_can_be_cleared_and_must_be_of_a_function_that_answers(
    handler: RecordingHandler,
) -> None:
    handler.fail("malloc")
    handler.clear_faults()
    assert np.empty(3).shape == (3,)
    with pytest.raises(ValueError, match="no function `free`"):
        handler.fail("free")
    with pytest.raises(ValueError, match="number 1"):
        handler.fail("malloc", 0)


def test_none_stands_for_the_handler_of_numpy() -> None:
    previous = _allocert.set_data_handler(RecordingHandler().capsule())
    _allocert.set_data_handler(None)
    assert _allocert.get_data_handler() is _allocert.default_data_handler()
    _allocert.set_data_handler(previous)


def test_what_is_no_handler_is_refused() -> None:
    with pytest.raises(ValueError, match="mem_handler"):
        _allocert.set_data_handler(object())
    with pytest.raises(ValueError, match="not aligned"):
        RecordingHandler(4097)
    nothing = (ctypes.c_uint64 * 21)()
    with pytest.raises(ValueError, match="malloc is null"):
        RecordingHandler(ctypes.addressof(nothing))
