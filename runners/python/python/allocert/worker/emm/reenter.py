"""The operation that lets a finalizer run in the middle of an allocation, as a garbage collection may."""

import gc
import sys

from ..operation import operation
from ..text import bounded, type_name
from .load import Live

#: Moments of one allocation at which it is tried; an allocation has a few dozen.
LIMIT = 256


class Garbage:
    """Holds memory in a reference cycle, so that a collection alone lets go of it."""

    def __init__(self, memory):
        self.memory, self.own = memory, self


class Moment:
    """Collects garbage when the n-th call within an allocation begins or ends."""

    def __init__(self, number):
        self.left = number

    def __call__(self, _frame, _event, _argument):
        self.left -= 1
        if self.left == 0:
            gc.collect()


@operation
def reenter(case, on, arguments):
    manager, size, live = case.manager(on), arguments["size"], Live()
    moments, report = 0, sys.unraisablehook
    sys.unraisablehook = lambda told: live.fail(
        f"the finalizer raised {type_name(told.exc_value)}: {bounded(told.exc_value, 200)}"
    )
    gc.disable()
    try:
        for number in range(1, LIMIT + 1):
            moment = Moment(number)
            _once(manager, size, moment, live)
            if moment.left > 0:
                break
            moments = number
    finally:
        gc.enable()
        sys.unraisablehook = report
    return {
        "moments": moments,
        "failed": live.failed,
        "overlaps": live.overlaps,
        "first_failure": live.first_failure,
    }


def _once(manager, size, moment, live):
    """One allocation, with the finalizer of another one in its middle; then that one ends too."""
    Garbage(manager.memalloc(size))
    memory = None
    sys.setprofile(moment)
    try:
        memory = manager.memalloc(size)
    except BaseException as error:  # noqa: BLE001 - counted; the step goes on
        sys.setprofile(None)
        live.fail(f"{type_name(error)}: {bounded(error, 200)}")
    finally:
        sys.setprofile(None)
        gc.collect()
    if memory is not None:
        live.remove(live.add(memory))
