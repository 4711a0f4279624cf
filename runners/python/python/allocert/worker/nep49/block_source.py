"""The blocks of a churn and a stress, by all functions of a handler that take one."""

import contextlib
from typing import NamedTuple

from .. import checked_memory
from ..checked_memory import MemoryFault
from ..churn_and_stress import Refused, Taken, byte_of
from .handler import HandlerCalls


class Block(NamedTuple):
    """A block that the handler gave."""

    address: int
    #: As asked for.
    size_bytes: int


class HandlerBlocks:
    """Takes each block by one of the three functions, chosen by its number."""

    counted: tuple[str, ...] = (
        "failed",
        "failed_calloc",
        "failed_realloc",
        "dirty",
        "lost_realloc",
    )

    def __init__(self, calls: HandlerCalls) -> None:
        self._calls = calls

    def alignment_of(self, size_bytes: int) -> int:
        """What NumPy's sorts rely on: 16, or the largest element that the block has room for."""
        return 1 << (min(max(size_bytes, 1), 16).bit_length() - 1)

    def take(self, number: int, size_bytes: int) -> Taken[Block]:
        if number % 3 == 0:
            return Taken(self._malloc(size_bytes))
        if number % 3 == 1:
            return self._zeroed(size_bytes)
        return self._grown(size_bytes, byte_of(number))

    def fill(self, block: Block, byte: int) -> None:
        with contextlib.suppress(MemoryFault):
            checked_memory.fill(block.address, block.size_bytes, byte)

    def occupy(self, block: Block) -> None:
        """Has the system give pages to a block."""
        with contextlib.suppress(MemoryFault):
            checked_memory.occupy(block.address, block.size_bytes, 1)

    def is_filled(self, block: Block, byte: int) -> bool:
        return is_filled(block.address, block.size_bytes, byte)

    def give(self, block: Block) -> None:
        self._calls.free(block.address, block.size_bytes)

    def _malloc(self, size_bytes: int) -> Block:
        return _served(self._calls.malloc(size_bytes), size_bytes, "failed")

    def _zeroed(self, size_bytes: int) -> Taken[Block]:
        """A block of calloc(), which must be zeros."""
        block = _served(self._calls.calloc(size_bytes, 1), size_bytes, "failed_calloc")
        return Taken(block, None if self.is_filled(block, 0) else "dirty")

    def _grown(self, size_bytes: int, byte: int) -> Taken[Block]:
        """A block of half the size that realloc() made larger. It must keep its bytes."""
        half = self._malloc((size_bytes + 1) // 2)
        self.fill(half, byte)
        address = self._calls.realloc_without_gil(half.address, size_bytes)
        if not address:
            self.give(half)
        block = _served(address, size_bytes, "failed_realloc")
        kept = is_filled(address, half.size_bytes, byte)
        return Taken(block, None if kept else "lost_realloc")


def _served(address: int, size_bytes: int, fact: str) -> Block:
    if not address:
        raise Refused(fact)
    return Block(address, size_bytes)


def is_filled(address: int, size_bytes: int, byte: int) -> bool:
    """Whether all bytes can be read and have this value."""
    try:
        return checked_memory.uniform_byte(address, size_bytes) == byte
    except MemoryFault:
        return False
