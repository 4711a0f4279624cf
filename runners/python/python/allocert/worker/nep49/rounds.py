"""Rounds of the same calls, and the memory that they leave behind."""

import itertools
import queue
import threading

from ..churn_and_stress import resident_bytes
from ..operations import Facts
from .block_source import Block, HandlerBlocks
from .handler import HandlerCalls

_QUARTERS = 4


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
        growths = [after - before for before, after in itertools.pairwise(self._peaks)]
        return {"kept_bytes": self.kept_bytes(), "growing_bytes": max(min(growths), 0)}


def resized_rounds(
    calls: HandlerCalls, source: HandlerBlocks, size_bytes: int, new_size_bytes: int, times: int
) -> Facts:
    """Takes, resizes and frees a block, `times` times."""
    failed, memory = 0, ResidentMemory(times)
    for round_ in range(times):
        block = Block(calls.malloc(size_bytes), size_bytes)
        if not block.address:
            failed += 1
            continue
        source.fill(block, 1)
        resized = calls.realloc(block.address, new_size_bytes)
        if resized:
            block = Block(resized, new_size_bytes)
        else:
            failed += 1
        source.fill(block, 2)
        source.give(block)
        memory.after(round_)
    return {"failed": failed, **memory.facts()}


def handed_rounds(calls: HandlerCalls, source: HandlerBlocks, size_bytes: int, times: int) -> Facts:
    """Takes a block and has another thread free it, `times` times.

    The thread lives as long as the rounds.
    """
    failed, memory, freeing = 0, ResidentMemory(times), _FreeingThread(source)
    try:
        for round_ in range(times):
            block = Block(calls.malloc(size_bytes), size_bytes)
            if not block.address:
                failed += 1
                continue
            source.fill(block, 1)
            freeing.free(block)
            memory.after(round_)
    finally:
        freeing.end()
    return {"failed": failed, **memory.facts()}


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
