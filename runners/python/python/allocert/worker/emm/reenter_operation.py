"""The operation that runs a finalizer inside an allocation, as a garbage collection may."""

import gc
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..operations import Arguments, Facts, OperationTable
from ..safe_text import bounded, type_name
from .case import ManagerCase
from .stress_operations import LiveRanges

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

OPERATIONS: OperationTable[ManagerCase] = OperationTable()

#: Moments of one allocation at which a finalizer is run; an allocation has a few dozen.
_MOMENT_LIMIT = 256


class _Cycle:
    """Holds memory in a reference cycle, so that only a garbage collection lets go of it."""

    def __init__(self, memory: Any) -> None:
        self.memory, self.itself = memory, self


class _CollectAtCall:
    """A profile function: collects garbage when the n-th call of a thread begins or ends."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, _frame: FrameType, _event: str, _argument: Any) -> None:
        self.left -= 1
        if self.left == 0:
            gc.collect()


@OPERATIONS.register
def reenter(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    manager, size_bytes, live = case.manager(on), arguments["size"], LiveRanges()
    moments, before = 0, sys.unraisablehook

    def count_failure(args: "UnraisableHookArgs") -> None:
        error = args.exc_value
        live.fail(f"the finalizer raised {type_name(error)}: {bounded(error, 200)}")

    sys.unraisablehook = count_failure
    gc.disable()
    try:
        for number in range(1, _MOMENT_LIMIT + 1):
            collect = _CollectAtCall(number)
            _allocate_once(manager, size_bytes, collect, live)
            if collect.left > 0:
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


def _allocate_once(
    manager: Any, size_bytes: int, collect: _CollectAtCall, live: LiveRanges
) -> None:
    """Allocates while the profile function runs the finalizer of another allocation.

    Both are dropped at the end.
    """
    _Cycle(manager.memalloc(size_bytes))
    memory = None
    sys.setprofile(collect)
    try:
        memory = manager.memalloc(size_bytes)
    except BaseException as error:  # noqa: BLE001 - counted; the step goes on
        sys.setprofile(None)
        live.fail(f"{type_name(error)}: {bounded(error, 200)}")
    finally:
        sys.setprofile(None)
        gc.collect()
    if memory is not None:
        live.remove(live.add(memory))
