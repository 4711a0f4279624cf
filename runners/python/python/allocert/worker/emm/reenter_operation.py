"""The operation that runs a finalizer in the middle of a call, as a garbage collection may."""

import gc
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..operations import Arguments, Facts, OperationTable
from ..safe_text import bounded, type_name
from .case import ManagerCase
from .stress_operations import LiveRanges

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

OPERATIONS: OperationTable[ManagerCase] = OperationTable()

#: Moments of one call at which a finalizer is run; a call has a few dozen.
_MOMENT_LIMIT = 256
#: How long a call waits for a finalizer on another thread, which may wait for the call.
_WAIT_S = 0.02
#: How long such a finalizer may take when the call is over.
_END_S = 10


class _Cycle:
    """Holds memory in a reference cycle, so that only a garbage collection lets go of it."""

    def __init__(self, memory: Any) -> None:
        self.memory, self.itself = memory, self


class _AtMoment:
    """A profile function: acts when the n-th call of a thread begins or ends."""

    def __init__(self, number: int, action: Callable[[], object]) -> None:
        self.left, self._action = number, action

    def __call__(self, _frame: FrameType, _event: str, _argument: Any) -> None:
        self.left -= 1
        if self.left == 0:
            self._action()


class _OtherThread:
    """A thread that collects garbage when it is told to."""

    def __init__(self) -> None:
        self._begin, self._done = threading.Event(), threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        self._begin.wait()
        gc.collect()
        self._done.set()

    def collect(self) -> None:
        self._begin.set()
        self._done.wait(_WAIT_S)

    def end(self, live: LiveRanges) -> None:
        self._begin.set()
        if not self._done.wait(_END_S):
            live.fail(f"a finalizer on another thread took more than {_END_S} s")


@OPERATIONS.register
def reenter(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    manager, size_bytes, live = case.manager(on), arguments["size"], LiveRanges()
    call = {"memalloc": _allocate, "reset": _reset}[arguments.get("during", "memalloc")]
    moments, before = 0, sys.unraisablehook

    def count_failure(args: "UnraisableHookArgs") -> None:
        error = args.exc_value
        live.fail(f"the finalizer raised {type_name(error)}: {bounded(error, 200)}")

    sys.unraisablehook = count_failure
    gc.disable()
    try:
        for number in range(1, _MOMENT_LIMIT + 1):
            other = _OtherThread() if arguments.get("other_thread", False) else None
            moment = _AtMoment(number, other.collect if other else gc.collect)
            call(manager, size_bytes, moment, live)
            if other:
                other.end(live)
            gc.collect()
            if moment.left > 0:
                break
            moments = number
    finally:
        gc.enable()
        sys.unraisablehook = before
    return {
        "moments": moments,
        "failed": live.failed,
        "overlaps": live.overlaps,
        "first_failure": live.first_failure,
    }


def _allocate(manager: Any, size_bytes: int, moment: _AtMoment, live: LiveRanges) -> None:
    """Allocates while the profile function runs the finalizer of another allocation.

    Both are dropped at the end.
    """
    _Cycle(manager.memalloc(size_bytes))
    memory = _observed(lambda: manager.memalloc(size_bytes), moment, live)
    gc.collect()
    if memory is not None:
        live.remove(live.add(memory))


def _reset(manager: Any, size_bytes: int, moment: _AtMoment, live: LiveRanges) -> None:
    """Resets while the profile function runs the finalizers of some of the live allocations.

    Then allocates two blocks, which are dropped at the end.
    """
    kept = [manager.memalloc(size_bytes) for _ in range(2)]
    for _ in range(2):
        _Cycle(manager.memalloc(size_bytes))
    _observed(manager.reset, moment, live)
    gc.collect()
    # Beside newer memory these finalizers would be another test.
    kept.clear()
    blocks = [manager.memalloc(size_bytes) for _ in range(2)]
    for range_ in [live.add(block) for block in blocks]:
        live.remove(range_)


def _observed(call: Callable[[], Any], moment: _AtMoment, live: LiveRanges) -> Any:
    """Makes the call under the profile function. Counts it as failed if it raises."""
    sys.setprofile(moment)
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - counted; the step goes on
        sys.setprofile(None)
        live.fail_with(error)
        return None
    finally:
        sys.setprofile(None)
