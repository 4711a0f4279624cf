"""The operations that allocate and drop many times, from one thread or from several."""

import collections
import threading

from ..operation import operation
from ..text import bounded, type_name
from . import facts

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
        # The range leaves the books first: another thread may get the address the moment the memory dies.
        range_, memory = held.popleft()
        self.remove(range_)
        del memory


@operation
def churn(case, on, arguments):
    live = Live()
    live.cycle(case.manager(on), arguments["size"], arguments["times"], arguments.get("hold", 1))
    return {
        "failed": live.failed,
        "overlaps": live.overlaps,
        "misaligned": live.misaligned,
        "first_failure": live.first_failure,
    }


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
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"failed": live.failed, "overlaps": live.overlaps, "first_failure": live.first_failure}
