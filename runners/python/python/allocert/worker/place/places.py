"""Places, as fixtures and the trace write them."""

from enum import IntEnum
from typing import NamedTuple


class PlaceKind(IntEnum):
    """The numbers of `allocert_place.h`, and two that it does not have."""

    CPU = 0
    CUDA = 1
    CUDA_PINNED = 2
    UNKNOWN = 9
    NEGATIVE = -1


class Place(NamedTuple):
    """A kind of memory, and the number of a device."""

    kind: PlaceKind
    device: int

    @classmethod
    def read(cls, text: str) -> "Place":
        """The place of `cuda:1`. The device is 0 where none is named."""
        kind, _, device = text.partition(":")
        return cls(PlaceKind[kind.upper()], int(device or 0))


#: What a message calls the memory of a kind.
MEMORY_NAMES = {
    PlaceKind.CPU: "memory of the host",
    PlaceKind.CUDA: "memory of devices",
    PlaceKind.CUDA_PINNED: "page-locked memory",
}
