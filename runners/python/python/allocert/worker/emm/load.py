"""The operations that allocate and drop many times, from one thread or from several."""

import collections
import sys
import threading

from ..operation import operation
from ..outcome import DriverError
from ..text import bounded, type_name
from . import facts, transfer

ALIGNMENT_BYTES = 256


class Live:
    """The address ranges of the allocations that are alive, and what was wrong with them."""

    def __init__(self):
        self._ranges = set()
        self._lock = threading.Lock()
        self.failed = self.overlaps = self.misaligned = 0
        self.first_failure = None

    def add(self, memory):
        """Takes note of new memory and returns its range, or None where it has no usable address."""
        seen = facts.memory(memory)
        start, size = seen["pointer"], seen["size_bytes"]
        if start is None or type(size) is not int or (size and not start):
            self.fail(f"{seen['type']} without an address and a size")
            return None
        new = (start, start + size)
        with self._lock:
            self.misaligned += start % ALIGNMENT_BYTES != 0
            self.overlaps += any(new[0] < end and begin < new[1] for begin, end in self._ranges)
            self._ranges.add(new)
        return new

    def remove(self, range_):
        with self._lock:
            self._ranges.discard(range_)

    def fail(self, reason):
        with self._lock:
            self.failed += 1
            self.first_failure = self.first_failure or reason

    def facts(self):
        return {
            "failed": self.failed,
            "overlaps": self.overlaps,
            "misaligned": self.misaligned,
            "first_failure": self.first_failure,
        }

    def cycle(self, manager, size, times, hold):
        """Allocates `times` times with `hold` allocations alive at a time, then drops those too."""
        held = collections.deque()
        for _ in range(times):
            try:
                memory = manager.memalloc(size)
            except BaseException as error:  # noqa: BLE001 - counted; the step goes on
                self.fail(f"{type_name(error)}: {bounded(error, 200)}")
                continue
            held.append((self.add(memory), memory))
            memory = None
            if len(held) > hold - 1:
                self._drop(held)
        while held:
            self._drop(held)

    def _drop(self, held):
        # The range leaves the books first: another thread may get the address the moment the memory
        # dies.
        range_, memory = held.popleft()
        self.remove(range_)
        del memory


class Lottery:
    """Numbers in no order that anybody would write down, the same in each run and in each worker."""

    def __init__(self):
        self._state = 0

    def below(self, bound):
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self._state >> 33) % max(bound, 1)


def _mixed(case, manager, size, times, hold):
    """Allocations of sizes up to `size`, dropped in no order; each is filled with a byte of its own and looked at when it goes."""
    live, held, lottery, changed = Live(), [], Lottery(), 0
    for number in range(times):
        size_bytes, byte = lottery.below(size) + 1, number % 255
        try:
            memory = manager.memalloc(size_bytes)
            transfer.fill(case.driver, memory, byte, 0, size_bytes)
        except BaseException as error:  # noqa: BLE001 - counted; the step goes on
            live.fail(f"{type_name(error)}: {bounded(error, 200)}")
            continue
        held.append((live.add(memory), memory, size_bytes, byte))
        memory = None
        if len(held) >= max(hold, 1):
            at = lottery.below(len(held))
            held[at], held[-1] = held[-1], held[at]
            range_, memory, size_bytes, byte = held.pop()
            changed += not _holds(case, memory, size_bytes, byte)
            live.remove(range_)
            memory = None
    return live, changed


def _holds(case, memory, size_bytes, byte):
    try:
        return transfer.uniform(case.driver, memory, 0, size_bytes)["uniform"] == byte
    except DriverError:
        return False


@operation
def churn(case, on, arguments):
    if arguments.get("mixed", False):
        live, changed = _mixed(
            case, case.manager(on), arguments["size"], arguments["times"], arguments.get("hold", 1)
        )
        return {**live.facts(), "changed": changed}
    live = Live()
    live.cycle(case.manager(on), arguments["size"], arguments["times"], arguments.get("hold", 1))
    return live.facts()


@operation
def stress(case, on, arguments):
    live, manager, context = Live(), case.manager(on), case.context()
    start = threading.Barrier(arguments["threads"])

    def work():
        if context is not None:
            case.driver.set_current(int(context.handle))
        start.wait()
        live.cycle(manager, arguments["size"], arguments["times"], 2)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(arguments["threads"])]
    interval = sys.getswitchinterval()
    # The interpreter gives a thread several milliseconds, in which it would be done.
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return {"failed": live.failed, "overlaps": live.overlaps, "first_failure": live.first_failure}
