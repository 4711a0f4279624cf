"""Rounds of the same calls, and the memory that they leave behind."""

import itertools
import queue
import resource
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from ..churn_and_stress import resident_bytes
from ..operations import Facts
from ..outcome import Declined
from .block_source import Block, HandlerBlocks
from .handler import HandlerCalls

_QUARTERS = 4
#: So many counted rounds there are with a handler that writes to all of a block.
_MOST_WRITTEN = 4
#: What a handler does to a block it does to one of so many bytes.
_PROBE_BYTES = 64 << 20
_ELEMENT_BYTES = 64 << 10
#: So many rounds look for a leak first. They are doubled as long as they make the process grow by a
#: part of their blocks.
_FIRST_ROUNDS = 16
_LOST_PART = 16
#: When the blocks have so many bytes together, a handler that holds 512 MiB back grows no more.
_HELD_BACK_BYTES = 640 << 20
#: Then there are rounds until they have so many.
_MOST_BYTES = 960 << 20
#: The record of more makes the process grow as a leak does.
_MOST_ROUNDS = 5_000


class ResidentMemory:
    """What rounds leave behind.

    A cache or a quarantine grows until it is full; a leak grows in every quarter of the rounds. The
    peaks count, because memory that a handler frees in batches goes up and down.
    """

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._peaks = [0] * _QUARTERS
        self._before = resident_bytes()

    def after(self, round_: int) -> None:
        """Measures after a round; they count from 0."""
        quarter = round_ * _QUARTERS // self._rounds
        self._peaks[quarter] = max(self._peaks[quarter], resident_bytes())

    def kept_bytes(self) -> int:
        """By how much it has grown since before the rounds."""
        return max(resident_bytes() - self._before, 0)

    def facts(self) -> Facts:
        """`kept_bytes` and `growing_bytes`: the least growth from a quarter to the next."""
        return {"kept_bytes": self.kept_bytes(), "growing_bytes": max(min(self._growths()), 0)}

    def growing_more_bytes(self, others: "ResidentMemory") -> int:
        """The least growth from a quarter to the next, beyond the most in other rounds.

        What a handler keeps of all that is freed counts in both, and so does the record of the
        calls.
        """
        return max(min(self._growths()) - max(0, *others._growths()), 0)

    def _growths(self) -> list[int]:
        return [after - before for before, after in itertools.pairwise(self._peaks)]


class Rounds(NamedTuple):
    """What rounds came to: how many of them were not served, and what memory they left behind."""

    failed: int
    memory: ResidentMemory

    def facts_beside(self, without: "Rounds") -> Facts:
        """The facts of rounds that must leave no more memory behind than the rounds `without`."""
        return {
            "failed_without": without.failed,
            "failed": self.failed,
            "growing_more_bytes": self.memory.growing_more_bytes(without.memory),
        }


def measured_rounds(
    source: HandlerBlocks,
    size_bytes: int,
    times: int,
    take: Callable[[], int],
    end: Callable[[Block], bool],
) -> Rounds:
    """Has `take` take a block, gives pages to it and has `end` give it back, `times` times.

    `take` gives the address, or 0. `end` tells whether all its requests were served.
    """
    failed, memory = 0, ResidentMemory(times)
    for round_ in range(times):
        block = Block(take(), size_bytes)
        if not block.address:
            failed += 1
            continue
        source.occupy(block)
        failed += not end(block)
        memory.after(round_)
    return Rounds(failed, memory)


def resized_rounds(
    calls: HandlerCalls, source: HandlerBlocks, size_bytes: int, new_size_bytes: int, times: int
) -> Facts:
    """Takes two blocks and frees them, and then takes one and resizes it to the other size."""

    def take() -> int:
        return calls.malloc(size_bytes)

    def take_another(old: Block) -> bool:
        new = calls.malloc(new_size_bytes)
        if new:
            # As far as realloc() copies.
            source.occupy(Block(new, min(size_bytes, new_size_bytes)))
        source.give(old)
        if new:
            source.give(Block(new, new_size_bytes))
        return bool(new)

    def resize(old: Block) -> bool:
        new = calls.realloc(old.address, new_size_bytes)
        source.give(Block(new, new_size_bytes) if new else old)
        return bool(new)

    without = measured_rounds(source, size_bytes, times, take, take_another)
    return measured_rounds(source, size_bytes, times, take, resize).facts_beside(without)


def zeroed_rounds(calls: HandlerCalls, source: HandlerBlocks, size_bytes: int, times: int) -> Facts:
    """Takes a block of malloc() and frees it, `times` times, and then one of calloc()."""

    def give(block: Block) -> bool:
        source.give(block)
        return True

    def rounds(take: Callable[[], int]) -> Rounds:
        return measured_rounds(source, size_bytes, times, take, give)

    without = rounds(lambda: calls.malloc(size_bytes))
    return rounds(lambda: calls.calloc(size_bytes, 1)).facts_beside(without)


def counted_rounds(
    calls: HandlerCalls, size_bytes: int, new_size_bytes: int, guess: int, times: int
) -> Facts:
    """Takes a block and frees it, resizes it in between, and frees it with the size `guess`.

    Writes to no block, so that the system need not give pages to large ones. After rounds that
    failed there are no others: they would fail because of the first ones.
    """

    def free(block: int) -> bool:
        calls.free(block, size_bytes)
        return True

    def resize_and_free(block: int) -> bool:
        new = calls.realloc(block, new_size_bytes)
        calls.free(new or block, new_size_bytes if new else size_bytes)
        return bool(new)

    def free_guessed(block: int) -> bool:
        calls.free(block, guess)
        return True

    if _writes_to_all(calls, calls.malloc, size_bytes):
        times = min(times, _MOST_WRITTEN)

    def failed(end: Callable[[int], bool]) -> int:
        blocks = (calls.malloc(size_bytes) for _ in range(times))
        return sum(not (block and end(block)) for block in blocks)

    facts: Facts = {}
    for name, end in (
        ("failed_without", free),
        ("failed", resize_and_free),
        ("failed_guessed", free_guessed),
    ):
        facts[name] = 0 if any(facts.values()) else failed(end)
    return facts


def sparse_block(calls: HandlerCalls, by: str, size_bytes: int) -> int:
    """Takes a block, unless the system would give pages to it."""

    def take(size: int) -> int:
        if by == "calloc":
            return calls.calloc(size // _ELEMENT_BYTES, _ELEMENT_BYTES)
        return calls.malloc(size) if by == "malloc" else calls.realloc(0, size)

    if _writes_to_all(calls, take, _PROBE_BYTES):
        raise Declined("the handler writes to all of a block, or keeps it in memory")
    block = take(size_bytes)
    if not block:
        raise Declined("the handler has no such block")
    return block


def _writes_to_all(calls: HandlerCalls, take: Callable[[int], int], size_bytes: int) -> bool:
    """Whether `take` or free() writes to most of a block: then the system gives it pages."""
    before = resident_bytes()
    block = take(size_bytes)
    if block:
        calls.free(block, size_bytes)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return peak - before > size_bytes // 2


def leak_rounds(
    calls: HandlerCalls, source: HandlerBlocks, by: str, size_bytes: int, hold: int
) -> Facts:
    """Takes a block by a function and frees it, as long as the resident memory grows with that."""
    if hold > 1 or _MOST_ROUNDS * size_bytes < _MOST_BYTES:
        raise Declined(
            "a leak of such small blocks is looked for in shared libraries only; if a library "
            "exports the handler, run it as PATH.so:symbol too"
        )

    def take() -> int:
        if by == "calloc":
            return calls.calloc(size_bytes, 1)
        if by == "malloc":
            return calls.malloc(size_bytes)
        half_bytes = -(-size_bytes // 2)
        half = calls.malloc(half_bytes)
        whole = calls.realloc(half, size_bytes)
        if not whole:
            calls.free(half, half_bytes)
            return 0
        source.occupy(Block(whole, size_bytes))
        return calls.realloc(whole, half_bytes) or whole

    left_bytes = -(-size_bytes // 2) if by == "realloc" else size_bytes
    last_peak, number, times = resident_bytes(), 0, _FIRST_ROUNDS
    while True:
        peak = 0
        for _ in range(times):
            block = Block(take(), left_bytes)
            if not block.address:
                return {"failed": 1, "leaked_bytes": 0}
            source.occupy(block)
            source.give(block)
            peak = max(peak, resident_bytes())
        number += times
        grown, taken = max(peak - last_peak, 0), number * size_bytes
        if grown < times * size_bytes // _LOST_PART:
            return {"failed": 0, "leaked_bytes": 0}
        if taken >= _MOST_BYTES:
            return {"failed": 0, "leaked_bytes": grown}
        held_back = taken >= _HELD_BACK_BYTES
        further = _MOST_BYTES - taken if held_back else min(taken, _HELD_BACK_BYTES - taken)
        last_peak, times = peak, -(-further // size_bytes)


def handed_rounds(calls: HandlerCalls, source: HandlerBlocks, size_bytes: int, times: int) -> Facts:
    """Takes a block and has another thread free it, `times` times.

    The thread lives as long as the rounds.
    """
    freeing = _FreeingThread(source)

    def take() -> int:
        return calls.malloc(size_bytes)

    def hand_over(block: Block) -> bool:
        freeing.free(block)
        return True

    try:
        handed = measured_rounds(source, size_bytes, times, take, hand_over)
    finally:
        freeing.end()
    return {"failed": handed.failed, **handed.memory.facts()}


def thread_rounds(
    calls: HandlerCalls, source: HandlerBlocks, blocks: int, size_bytes: int, times: int
) -> Facts:
    """Has a thread take blocks and free them, `times` times, and then a new thread each time."""

    def take_and_give() -> int:
        return _take_and_give(calls, source, blocks, size_bytes)

    def rounds(on_thread: Callable[[], int]) -> tuple[int, ResidentMemory]:
        failed, memory = 0, ResidentMemory(times)
        for round_ in range(times):
            failed += on_thread()
            memory.after(round_)
        return failed, memory

    with ThreadPoolExecutor(max_workers=1) as thread:
        failed_on_one, one = thread.submit(rounds, take_and_give).result()
    failed_on_new, new = rounds(lambda: _on_new_thread(take_and_give))
    return {
        "failed": failed_on_one + failed_on_new,
        "growing_more_bytes": new.growing_more_bytes(one),
    }


def _on_new_thread(work: Callable[[], int]) -> int:
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(work).result()


def _take_and_give(calls: HandlerCalls, source: HandlerBlocks, blocks: int, size_bytes: int) -> int:
    """Takes so many blocks, fills and frees them. Gives how many did not come."""
    requests = (Block(calls.malloc(size_bytes), size_bytes) for _ in range(blocks))
    held = [block for block in requests if block.address]
    for block in held:
        source.occupy(block)
    for block in held:
        source.give(block)
    return blocks - len(held)


class _FreeingThread:
    """A thread that frees blocks, one after another."""

    def __init__(self, source: HandlerBlocks) -> None:
        self._source = source
        self._given: queue.SimpleQueue[Block | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def free(self, block: Block) -> None:
        """Waits until the block is freed. Raises what that raised."""
        self._given.put(block)
        error = self._answers.get()
        if error is not None:
            raise error

    def end(self) -> None:
        """Waits until the thread has ended."""
        self._given.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (block := self._given.get()) is not None:
            try:
                self._source.give(block)
            except BaseException as error:  # noqa: BLE001 - the step raises it on its own thread
                self._answers.put(error)
            else:
                self._answers.put(None)
