"""Many blocks, in a row or on several threads at once. The facts count what was wrong."""

import bisect
import queue
import resource
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from .operations import Facts
from .random_numbers import Random

#: So many blocks each thread of a stress keeps alive.
_STRESS_HOLD = 4


class Block(Protocol):
    """Memory that a source gave."""

    @property
    def address(self) -> int:
        """Where it begins."""

    @property
    def size_bytes(self) -> int:
        """As asked for."""


class Refused(Exception):
    """A source has no block. `fact` is the name of the fact that counts it."""

    def __init__(self, fact: str) -> None:
        super().__init__(fact)
        self.fact = fact


B = TypeVar("B", bound=Block)


# Python 3.10 has no generic named tuples.
@dataclass(slots=True)
class Taken(Generic[B]):
    """A block that came."""

    block: B
    #: The name of the fact that counts it, if its bytes are not what they must be.
    wrong: str | None = None


class BlockSource(Protocol[B]):
    """Where the blocks come from, and how their bytes are reached."""

    #: The facts that count refused requests, and blocks that come with wrong bytes.
    counted: tuple[str, ...]

    def alignment_of(self, size_bytes: int) -> int:
        """What the address of a block must be a multiple of."""

    def take(self, number: int, size_bytes: int) -> "Taken[B]":
        """The block with this number. Raises Refused."""

    def fill(self, block: B, byte: int) -> None:
        """Writes the byte to all of a block.

        One that cannot be written is found when it is read.
        """

    def is_filled(self, block: B, byte: int) -> bool:
        """Whether all bytes of a block can be read and have this value."""

    def give(self, block: B) -> None:
        """Frees a block."""


def byte_of(number: int) -> int:
    """What the block of a request is filled with."""
    return number % 255 + 1


@dataclass(slots=True)
class _Filled(Generic[B]):
    """A block that is filled with a byte."""

    block: B
    byte: int


class _Counts(Generic[B]):
    """What was wrong with the blocks of one thread."""

    def __init__(self, source: BlockSource[B]) -> None:
        self._source = source
        self.counted: Counter[str] = Counter()
        self.misaligned = self.changed = 0

    def take(self, number: int, size_bytes: int) -> _Filled[B] | None:
        """Takes a block and fills it."""
        try:
            taken = self._source.take(number, size_bytes)
        except Refused as refused:
            self.counted[refused.fact] += 1
            return None
        block = taken.block
        if taken.wrong is not None:
            self.counted[taken.wrong] += 1
        self.misaligned += block.address % self._source.alignment_of(size_bytes) != 0
        byte = byte_of(number)
        self._source.fill(block, byte)
        return _Filled(block, byte)

    def give(self, filled: _Filled[B]) -> None:
        """Compares a block and frees it."""
        self.changed += not self._source.is_filled(filled.block, filled.byte)
        self._source.give(filled.block)


class _LiveRanges:
    """The addresses of live blocks, in order."""

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int]] = []

    def enter(self, block: Block) -> bool:
        """Adds a block. Whether it meets a live one."""
        start, end = range_ = _range(block)
        index = bisect.bisect_left(self._ranges, range_)
        beside = self._ranges[max(index - 1, 0) : index + 1]
        self._ranges.insert(index, range_)
        return any(start < other_end and other < end for other, other_end in beside)

    def leave(self, block: Block) -> None:
        """Removes a block that was added."""
        del self._ranges[bisect.bisect_left(self._ranges, _range(block))]


def _range(block: Block) -> tuple[int, int]:
    return block.address, block.address + block.size_bytes


def churn(
    source: BlockSource[B], size_bytes: int, times: int, hold: int, then_bytes: int | None = None
) -> Facts:
    """`times` blocks of 1 to `size_bytes` bytes, at most `hold` of them alive at a time.

    With `then_bytes` the blocks have `size_bytes` and `then_bytes` in turn.
    """
    counts, random, overlaps, live = _Counts(source), Random(), 0, _LiveRanges()
    held: list[_Filled[B]] = []
    resident_before = resident_bytes()
    for number in range(times):
        if then_bytes is None:
            wanted_bytes = random.below(size_bytes) + 1
        else:
            wanted_bytes = then_bytes if number % 2 else size_bytes
        filled = counts.take(number, wanted_bytes)
        if filled is not None:
            overlaps += live.enter(filled.block)
            held.append(filled)
        if len(held) >= max(hold, 1):
            index = random.below(len(held))
            held[index], held[-1] = held[-1], held[index]
            gone = held.pop()
            live.leave(gone.block)
            counts.give(gone)
    for filled in held:
        counts.give(filled)
    return {
        **_facts(source, [counts]),
        "overlaps": overlaps,
        "grown_bytes": max(resident_bytes() - resident_before, 0),
    }


def _facts(source: BlockSource[B], counts: list[_Counts[B]]) -> Facts:
    """What was wrong, all threads together."""
    counted = sum((one.counted for one in counts), Counter())
    return {
        **{name: counted[name] for name in source.counted},
        "misaligned": sum(one.misaligned for one in counts),
        "changed": sum(one.changed for one in counts),
    }


def resident_bytes() -> int:
    """The memory of the process that has pages."""
    # Rounds measure after each one: text and a path would take most of their time.
    with open("/proc/self/statm", "rb", buffering=0) as statm:
        pages = int(statm.read().split()[1])
    return pages * resource.getpagesize()


class _Stress(Generic[B]):
    """Threads in a circle. A thread gives every second block of its own to the next thread."""

    def __init__(self, source: BlockSource[B], threads: int, size_bytes: int, times: int) -> None:
        self._source, self._size_bytes, self._times = source, size_bytes, times
        self._start = threading.Barrier(threads)
        self._given: list[queue.SimpleQueue[_Filled[B] | None]] = [
            queue.SimpleQueue() for _ in range(threads)
        ]
        self._counts = [_Counts(source) for _ in range(threads)]
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
        return _facts(self._source, self._counts)

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
        counts: _Counts[B],
        own: "queue.SimpleQueue[_Filled[B] | None]",
        following: "queue.SimpleQueue[_Filled[B] | None]",
    ) -> list[_Filled[B]]:
        """Takes all blocks. Returns those that nobody freed yet."""
        held: list[_Filled[B]] = []
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
    def _give_all(counts: _Counts[B], own: "queue.SimpleQueue[_Filled[B] | None]") -> None:
        while not own.empty():
            given = own.get()
            if given is None:
                own.put(None)  # for the thread's last loop; nothing comes after it
                return
            counts.give(given)


def stress(source: BlockSource[B], threads: int, size_bytes: int, times: int) -> Facts:
    """`times` blocks on each of several threads."""
    return _Stress(source, threads, size_bytes, times).run()


def overlap(one: Block, other: Block) -> bool:
    """Whether two blocks share a byte."""
    return (
        one.address < other.address + other.size_bytes
        and other.address < one.address + one.size_bytes
    )
