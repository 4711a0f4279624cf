"""free() with a size that is not the size of the block.

A handler may believe the size: overwrite so many bytes, unmap them, or give them out as a block of
that size. The block that is freed so has others of the case behind it. They take the damage, and
not the memory of the worker.
"""

import contextlib
import itertools
from collections.abc import Sequence
from typing import NamedTuple

from .. import checked_memory
from ..checked_memory import MemoryFault
from ..churn_and_stress import overlap
from ..operations import Facts
from .block_source import Block, HandlerBlocks, is_filled
from .handler import HandlerCalls
from .rounds import measured_rounds

#: The block that is freed has so many others behind it, where there are as many.
_LEAST_BEHIND = 16


class Filled(NamedTuple):
    """A block that is filled with a byte."""

    address: int
    size_bytes: int
    byte: int


def free_guessed(calls: HandlerCalls, size_bytes: int, guess: int, blocks: int) -> Facts:
    """Frees one of several blocks with the size `guess`."""
    # The list has its memory before the first block, so that it lies apart from the blocks.
    addresses = [0] * blocks
    for number in range(blocks):
        addresses[number] = calls.malloc(size_bytes)
    failed, changed, overlaps = addresses.count(0), 0, 0
    held = [
        Filled(address, size_bytes, number % 255 + 1)
        for number, address in enumerate(sorted(filter(None, addresses)))
    ]
    _fill(held)
    if held:
        freed = held.pop(_with_most_behind(held, guess))
        calls.free(freed.address, guess)
        changed = _changed(held)
    new: list[Filled] = []
    for number, new_bytes in enumerate([] if changed else [max(guess, 1), size_bytes, size_bytes]):
        block = Filled(calls.malloc(new_bytes), new_bytes, number + 1)
        if not block.address:
            failed += 1
            continue
        overlaps += any(overlap(block, other) for other in held + new)
        new.append(block)
    if not changed and not overlaps:
        _fill(new)
        changed = _changed(held + new)
    if not changed and not overlaps:
        for block in held + new:
            calls.free(block.address, block.size_bytes)
    return {"failed": failed, "changed": changed, "overlaps": overlaps}


def guessed_rounds(
    calls: HandlerCalls, source: HandlerBlocks, size_bytes: int, guess: int, times: int
) -> Facts:
    """Rounds with the right size and then with `guess`."""

    def told(told_bytes: int) -> tuple[int, Facts]:
        def free(block: Block) -> bool:
            calls.free(block.address, told_bytes)
            return True

        def take() -> int:
            return calls.malloc(size_bytes)

        rounds = measured_rounds(source, size_bytes, times, take, free)
        return rounds.failed, rounds.memory.facts()

    (failed, right), (failed_guessed, guessed) = told(size_bytes), told(guess)
    return {
        **right,
        "failed": failed + failed_guessed,
        "grown_bytes": max(guessed["kept_bytes"] - right["kept_bytes"], 0),
    }


def _with_most_behind(blocks: Sequence[Filled], guess: int) -> int:
    """The index of the block with the most bytes of others right behind it.

    That is as far as free() may write if it believes the size. The blocks are sorted.
    """

    def behind(index: int) -> int:
        first = blocks[index]
        begin = first.address + first.size_bytes
        end = begin + max(guess, _LEAST_BEHIND * first.size_bytes)
        others = itertools.takewhile(lambda other: other.address < end, blocks[index + 1 :])
        return sum(min(other.size_bytes, end - other.address) for other in others)

    return max(range(len(blocks)), key=behind)


def _fill(blocks: Sequence[Filled]) -> None:
    for block in blocks:
        # A block that cannot be written is found when it is read.
        with contextlib.suppress(MemoryFault):
            checked_memory.fill(*block)


def _changed(blocks: Sequence[Filled]) -> int:
    return sum(not is_filled(*block) for block in blocks)
