"""Calls of the subject. Each is recorded."""

from typing import NamedTuple

from ..operations import Facts
from ..outcome import Declined
from ..recorder import Recorder
from .abis import Abi, Taken
from .memory import PlaceMemory
from .places import MEMORY_NAMES, Place, PlaceKind

#: No caller asks for more.
_LARGEST_BYTES = 2**63 - 1
#: The default stream of the driver.
DEFAULT_STREAM = 0


class NoMemory(Exception):
    """A call returned address 0."""


class Block(NamedTuple):
    """A block that the subject gave."""

    place: Place
    taken: Taken
    #: As asked for.
    size_bytes: int
    #: The handle of the stream that it was taken for.
    stream: int
    #: Whether the call left the context current that was.
    leaves_current: bool | None

    @property
    def address(self) -> int:
        """Where it begins."""
        return self.taken.address


class AllocatorCalls:
    """The functions of a subject, in one case."""

    def __init__(self, abi_name: str, abi: Abi, memory: PlaceMemory, recorder: Recorder) -> None:
        self._name, self._abi, self._memory, self._recorder = abi_name, abi, memory, recorder

    def alloc(self, place: Place, size_bytes: int, stream: int) -> Block:
        """Takes a block at a place that the subject serves.

        Raises Declined, NoMemory, or what the subject raises.
        """
        if not 0 < size_bytes <= _LARGEST_BYTES:
            raise Declined(f"a caller of --abi {self._name} asks for no {size_bytes} bytes")
        facts = {**_facts(place), "size_bytes": size_bytes}

        def call() -> Taken:
            with self._recorder.call("place.alloc", facts):
                taken = self._abi.alloc(place.device, size_bytes, stream)
                facts["pointer"] = taken.address
                if not taken.address:
                    raise NoMemory(f"address 0 came back for {size_bytes} bytes")
            return taken

        taken, is_kept = self._memory.with_device_current(place, True, call)
        return Block(place, taken, size_bytes, stream, is_kept)

    def free(self, block: Block) -> bool | None:
        """Gives a block back. Says whether the call left the context current that was."""
        place, taken = block.place, block.taken
        facts = {**_facts(place), "pointer": taken.address}

        def call() -> None:
            with self._recorder.call("place.free", facts):
                self._abi.free(place.device, taken, block.size_bytes, block.stream)

        always = self._abi.frees_on_its_device
        _, is_kept = self._memory.with_device_current(place, always, call)
        return is_kept

    def ask_for(self, place: Place) -> None:
        """Raises Declined if the subject does not serve a place."""
        # The subject is made here, where its device is current.
        where = Place(PlaceKind.CUDA, place.device)
        served, _ = self._memory.with_device_current(where, True, lambda: self._served(place))
        if served != place:
            name = MEMORY_NAMES.get(served.kind, "memory")
            raise Declined(f"the subject serves {name} alone, of device {served.device}")

    def _served(self, place: Place) -> Place:
        return Place(self._abi.kind(place.device), self._abi.device(place.device))


def _facts(place: Place) -> Facts:
    return {"kind": int(place.kind), "device": place.device}
