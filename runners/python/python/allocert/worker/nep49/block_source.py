"""The blocks of a churn and a stress, by all functions of a handler that take one."""

import contextlib
from typing import NamedTuple

from .. import checked_memory
from ..checked_memory import MemoryFault
from ..churn_and_stress import Refused
from .handler import HandlerCalls


class Block(NamedTuple):
    """A block that the handler gave."""

    address: int
    #: As asked for.
    size_bytes: int


class HandlerBlocks:
    """Takes each block by one of the three functions, chosen by its number."""

    has_zeroed = True
    refusals: tuple[str, ...] = ("failed", "failed_calloc", "failed_realloc")

    def __init__(self, calls: HandlerCalls) -> None:
        self._calls = calls

    def alignment_of(self, size_bytes: int) -> int:
        """What NumPy's sorts rely on: 16, or the largest element that the block has room for."""
        return 1 << (min(max(size_bytes, 1), 16).bit_length() - 1)

    def take(self, number: int, size_bytes: int) -> Block:
        return Block(self._address(number, size_bytes), size_bytes)

    def is_dirty(self, number: int, block: Block) -> bool:
        return number % 3 == 1 and not self.is_filled(block, 0)

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

    def _address(self, number: int, size_bytes: int) -> int:
        if number % 3 == 0:
            return _served(self._calls.malloc(size_bytes), "failed")
        if number % 3 == 1:
            return _served(self._calls.calloc(size_bytes, 1), "failed_calloc")
        half_bytes = (size_bytes + 1) // 2
        half = _served(self._calls.malloc(half_bytes), "failed")
        whole = self._calls.realloc_without_gil(half, size_bytes)
        if not whole:
            self._calls.free(half, half_bytes)
        return _served(whole, "failed_realloc")


def _served(address: int, fact: str) -> int:
    if not address:
        raise Refused(fact)
    return address


def is_filled(address: int, size_bytes: int, byte: int) -> bool:
    """Whether all bytes can be read and have this value."""
    try:
        return checked_memory.uniform_byte(address, size_bytes) == byte
    except MemoryFault:
        return False
