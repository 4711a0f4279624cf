"""The operations that allocate and drop many times, from one thread or from several."""

import collections
import contextlib
import sys
import threading
from typing import Any, NamedTuple, TypeAlias

from ..emm_shared import facts, transfer
from ..operations import Arguments, Facts, OperationTable
from ..outcome import Declined, DriverError, says_out_of_memory
from ..random_numbers import Random
from ..safe_text import bounded, type_name
from .case import ManagerCase

OPERATIONS: OperationTable[ManagerCase] = OperationTable()

_ALIGNMENT_BYTES = 256

#: The first address of an allocation and the one after its last; None if it has no address.
_Range: TypeAlias = tuple[int, int] | None


class LiveRanges:
    """The address ranges of the allocations that are alive, and counts of what was wrong."""

    def __init__(self) -> None:
        self._ranges: set[tuple[int, int]] = set()
        self._lock = threading.Lock()
        self.failed = self.overlaps = self.misaligned = 0
        self.first_failure: str | None = None
        #: Whether that one said that memory is short.
        self.out_of_memory = False
        #: Allocations that carry no finalizer: the manager does not learn of their release.
        self.without_finalizer = 0

    def add(self, memory: Any) -> _Range:
        """Adds new memory and returns its range. Counts overlaps and wrong alignment."""
        found = facts.extent(memory)
        self.without_finalizer += not found["has_finalizer"]
        start, size = found["pointer"], found["size_bytes"]
        if start is None or type(size) is not int or (size and not start):
            self.fail(f"{found['type']} without an address and a size")
            return None
        end = start + size
        with self._lock:
            self.misaligned += start % _ALIGNMENT_BYTES != 0
            self.overlaps += any(
                start < other_end and other_start < end for other_start, other_end in self._ranges
            )
            self._ranges.add((start, end))
        return start, end

    def remove(self, range_: _Range) -> None:
        """Removes the range of memory that is about to be dropped."""
        if range_ is not None:
            with self._lock:
                self._ranges.discard(range_)

    def fail(self, reason: str) -> None:
        """Counts an allocation that failed."""
        self._fail(reason, out_of_memory=False)

    def fail_with(self, error: BaseException) -> None:
        """Counts a request that raised."""
        reason = f"{type_name(error)}: {bounded(error, 200)}"
        self._fail(reason, out_of_memory=says_out_of_memory(error))

    def _fail(self, reason: str, *, out_of_memory: bool) -> None:
        with self._lock:
            self.failed += 1
            if self.first_failure is None:
                self.first_failure, self.out_of_memory = reason, out_of_memory

    def facts(self) -> Facts:
        """All counts, as the step reports them. Declines for what no finalizer could give back."""
        if self.failed and self.without_finalizer:
            raise Declined(
                f"the memory carries no finalizer, and without one nothing is released before a"
                f" reset; {self.first_failure}"
            )
        return {
            **self.failures(),
            "overlaps": self.overlaps,
            "misaligned": self.misaligned,
        }

    def failures(self) -> Facts:
        """How many allocations failed, and what is known of the first one."""
        return {
            "failed": self.failed,
            "first_failure": self.first_failure,
            "out_of_memory": self.out_of_memory,
        }

    def cycle(self, manager: Any, size_bytes: int, times: int, hold: int) -> None:
        """Allocates `times` times with `hold` allocations alive at a time, then drops those too."""
        alive: collections.deque[tuple[_Range, Any]] = collections.deque()
        for _ in range(times):
            try:
                memory = manager.memalloc(size_bytes)
            except Exception as error:  # noqa: BLE001 - counted; the step goes on
                self.fail_with(error)
                continue
            alive.append((self.add(memory), memory))
            memory = None
            if len(alive) > hold - 1:
                self._drop_oldest(alive)
        while alive:
            self._drop_oldest(alive)

    def _drop_oldest(self, alive: collections.deque[tuple[_Range, Any]]) -> None:
        # The range is removed first: another thread may get the address the moment the memory
        # dies.
        range_, memory = alive.popleft()
        self.remove(range_)
        del memory


class _Block(NamedTuple):
    range: _Range
    memory: Any
    size_bytes: int
    #: What all of it holds.
    byte: int


def _mixed_cycle(
    case: ManagerCase, manager: Any, largest_bytes: int, times: int, hold: int
) -> tuple[LiveRanges, int]:
    """Allocates blocks of random sizes and drops them in random order.

    Each is filled with a byte of its own and read when it is dropped. Returns the ranges and how
    many blocks held something else then.
    """
    live, random, changed = LiveRanges(), Random(), 0
    blocks: list[_Block] = []
    for number in range(times):
        size_bytes, byte = random.below(largest_bytes) + 1, number % 255
        try:
            memory = manager.memalloc(size_bytes)
            # Memory that cannot be filled does not hold its byte at the end.
            with contextlib.suppress(DriverError):
                transfer.fill(case.driver, memory, byte, 0, size_bytes)
        except Exception as error:  # noqa: BLE001 - counted; the step goes on
            live.fail_with(error)
            continue
        blocks.append(_Block(live.add(memory), memory, size_bytes, byte))
        memory = None
        if len(blocks) >= max(hold, 1):
            index = random.below(len(blocks))
            blocks[index], blocks[-1] = blocks[-1], blocks[index]
            block = blocks.pop()
            changed += not _is_unchanged(case, block)
            live.remove(block.range)
            del block
    return live, changed


def _is_unchanged(case: ManagerCase, block: _Block) -> bool:
    try:
        found = transfer.read(case.driver, block.memory, 0, block.size_bytes)
    except DriverError:
        return False
    return bool(found["uniform"] == block.byte)


@OPERATIONS.register
def memalloc_many(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    manager, counts = case.manager(on), LiveRanges()
    memories: list[Any] = []
    for _ in range(arguments["times"]):
        try:
            memories.append(manager.memalloc(arguments["size"]))
        except Exception as error:  # noqa: BLE001 - counted; the step goes on
            counts.fail_with(error)
    case.bindings.bind(arguments["as"], memories)
    return counts.failures()


@OPERATIONS.register
def churn(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    manager, size_bytes, times = case.manager(on), arguments["size"], arguments["times"]
    hold = arguments.get("hold", 1)
    if arguments.get("mixed", False):
        live, changed = _mixed_cycle(case, manager, size_bytes, times, hold)
        return {**live.facts(), "changed": changed}
    live = LiveRanges()
    live.cycle(manager, size_bytes, times, hold)
    return live.facts()


@OPERATIONS.register
def stress(case: ManagerCase, on: str, arguments: Arguments) -> Facts:
    live, manager, context = LiveRanges(), case.manager(on), case.context()
    start = threading.Barrier(arguments["threads"])

    def work() -> None:
        if context is not None:
            case.driver.set_current(int(context.handle))
        start.wait()
        try:
            live.cycle(manager, arguments["size"], arguments["times"], 2)
        except BaseException as error:  # noqa: BLE001 - SystemExit would only end the thread
            live.fail_with(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(arguments["threads"])]
    interval = sys.getswitchinterval()
    # By default a thread runs for several milliseconds at a time, in which it would be done.
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return {**live.failures(), "overlaps": live.overlaps}
