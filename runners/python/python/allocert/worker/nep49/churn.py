"""Many blocks, in a row or on several threads at once. The facts count what was wrong."""

import contextlib
import pathlib
import queue
import resource
import threading
from typing import NamedTuple

from .. import checked_memory
from ..checked_memory import MemoryFault
from ..operations import Facts
from ..random_numbers import Random
from .handler import HandlerCalls

#: So many blocks each thread of a stress keeps alive.
_STRESS_HOLD = 4


class Filled(NamedTuple):
    """A block that is filled with a byte."""

    address: int
    size_bytes: int
    byte: int


class _Counts:
    """What was wrong with the blocks of one thread."""

    def __init__(self, calls: HandlerCalls) -> None:
        self._calls = calls
        self.failed = self.misaligned = self.changed = self.dirty = 0

    def take(self, number: int, size_bytes: int) -> Filled | None:
        """Takes a block by one of the three functions, chosen by `number`, and fills it."""
        address = self._address(number, size_bytes)
        if not address:
            self.failed += 1
            return None
        self.misaligned += address % _alignment_of(size_bytes) != 0
        if number % 3 == 1 and not is_filled(address, size_bytes, 0):
            self.dirty += 1
        byte = number % 255 + 1
        # A block that cannot be written is found when it is read.
        with contextlib.suppress(MemoryFault):
            checked_memory.fill(address, size_bytes, byte)
        return Filled(address, size_bytes, byte)

    def give(self, filled: Filled) -> None:
        """Compares a block and frees it."""
        self.changed += not is_filled(*filled)
        self._calls.free(filled.address, filled.size_bytes)

    def _address(self, number: int, size_bytes: int) -> int:
        if number % 3 == 0:
            return self._calls.malloc(size_bytes)
        if number % 3 == 1:
            return self._calls.calloc(size_bytes, 1)
        half_bytes = (size_bytes + 1) // 2
        half = self._calls.malloc(half_bytes)
        whole = self._calls.realloc(half, size_bytes) if half else 0
        if half and not whole:
            self._calls.free(half, half_bytes)
        return whole


def churn(calls: HandlerCalls, size_bytes: int, times: int, hold: int) -> Facts:
    """`times` blocks of 1 to `size_bytes` bytes, at most `hold` of them alive at a time."""
    counts, random, overlaps = _Counts(calls), Random(), 0
    held: list[Filled] = []
    resident_before = resident_bytes()
    for number in range(times):
        filled = counts.take(number, random.below(size_bytes) + 1)
        if filled is not None:
            overlaps += any(overlap(filled, other) for other in held)
            held.append(filled)
        if len(held) >= max(hold, 1):
            index = random.below(len(held))
            held[index], held[-1] = held[-1], held[index]
            counts.give(held.pop())
    for filled in held:
        counts.give(filled)
    return {
        "failed": counts.failed,
        "overlaps": overlaps,
        "misaligned": counts.misaligned,
        "changed": counts.changed,
        "dirty": counts.dirty,
        "grown_bytes": max(resident_bytes() - resident_before, 0),
    }


def resident_bytes() -> int:
    """The memory of the process that has pages."""
    pages = int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


class _Stress:
    """Threads in a circle. A thread gives every second block of its own to the next thread."""

    def __init__(self, calls: HandlerCalls, threads: int, size_bytes: int, times: int) -> None:
        self._size_bytes, self._times = size_bytes, times
        self._start = threading.Barrier(threads)
        self._given: list[queue.SimpleQueue[Filled | None]] = [
            queue.SimpleQueue() for _ in range(threads)
        ]
        self._counts = [_Counts(calls) for _ in range(threads)]
        self._errors: list[BaseException] = []

    def run(self) -> Facts:
        threads = [
            threading.Thread(target=self._work, args=(index,), daemon=True)
            for index in range(len(self._counts))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._errors:
            raise self._errors[0]
        names = ("failed", "misaligned", "changed", "dirty")
        return {name: sum(getattr(counts, name) for counts in self._counts) for name in names}

    def _work(self, index: int) -> None:
        following = self._given[(index + 1) % len(self._given)]
        try:
            self._start.wait()
            held = self._rounds(self._counts[index], self._given[index], following)
        except BaseException as error:  # noqa: BLE001 - the step raises it on its own thread
            self._errors.append(error)
            return
        finally:
            following.put(None)  # no more blocks come from this thread
        try:
            while (filled := self._given[index].get()) is not None:
                held.append(filled)
            for filled in held:
                self._counts[index].give(filled)
        except BaseException as error:  # noqa: BLE001 - as above
            self._errors.append(error)

    def _rounds(
        self,
        counts: _Counts,
        own: "queue.SimpleQueue[Filled | None]",
        following: "queue.SimpleQueue[Filled | None]",
    ) -> list[Filled]:
        """Takes all blocks. Returns those that nobody freed yet."""
        held: list[Filled] = []
        for number in range(self._times):
            taken = counts.take(number, self._size_bytes)
            if taken is not None:
                held.append(taken)
            if len(held) > _STRESS_HOLD:
                oldest = held.pop(0)
                if number % 2 == 0:
                    counts.give(oldest)
                else:
                    following.put(oldest)
            self._give_all(counts, own)
        return held

    @staticmethod
    def _give_all(counts: _Counts, own: "queue.SimpleQueue[Filled | None]") -> None:
        while not own.empty():
            given = own.get()
            if given is None:
                own.put(None)  # for the thread's last loop; nothing comes after it
                return
            counts.give(given)


def stress(calls: HandlerCalls, threads: int, size_bytes: int, times: int) -> Facts:
    """`times` blocks on each of several threads."""
    return _Stress(calls, threads, size_bytes, times).run()


def _alignment_of(size_bytes: int) -> int:
    """What NumPy's sorts rely on: 16, or the largest element that the block has room for."""
    return 1 << (min(max(size_bytes, 1), 16).bit_length() - 1)


def overlap(one: Filled, other: Filled) -> bool:
    """Whether two blocks share a byte."""
    return (
        one.address < other.address + other.size_bytes
        and other.address < one.address + one.size_bytes
    )


def is_filled(address: int, size_bytes: int, byte: int) -> bool:
    """Whether all bytes can be read and have this value."""
    try:
        return checked_memory.uniform_byte(address, size_bytes) == byte
    except MemoryFault:
        return False
