"""The blocks of a churn and a stress."""

import contextlib

from ..checked_memory import MemoryFault
from ..churn_and_stress import Refused, Taken
from ..outcome import Declined, DriverError, UnusableSubject
from .calls import DEFAULT_STREAM, AllocatorCalls, Block
from .memory import PlaceMemory
from .places import Place

#: `allocert_place.h`, alloc.
_ALIGNMENT_BYTES = 32


class PlaceBlocks:
    """The blocks of one place."""

    counted: tuple[str, ...] = ("failed",)

    def __init__(self, calls: AllocatorCalls, memory: PlaceMemory, place: Place) -> None:
        self._calls, self._memory, self._place = calls, memory, place

    def alignment_of(self, _size_bytes: int) -> int:
        return _ALIGNMENT_BYTES

    def take(self, _number: int, size_bytes: int) -> Taken[Block]:
        try:
            return Taken(self._calls.alloc(self._place, size_bytes, DEFAULT_STREAM))
        except (Declined, UnusableSubject):
            raise
        except Exception as refusal:
            raise Refused("failed") from refusal

    def fill(self, block: Block, byte: int) -> None:
        with contextlib.suppress(MemoryFault, DriverError):
            self._memory.fill(block.place, block.address, block.size_bytes, byte)

    def is_filled(self, block: Block, byte: int) -> bool:
        return self._memory.is_filled(block.place, block.address, block.size_bytes, byte)

    def give(self, block: Block) -> None:
        self._calls.free(block)
