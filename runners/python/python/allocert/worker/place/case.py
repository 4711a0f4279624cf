"""A case of `place`: the blocks and streams that its steps named, and the subject's functions."""

from collections.abc import Callable, Mapping
from typing import Any

from ..case import Case
from ..device import Stream
from ..driver import Driver
from ..operations import Operation
from ..outcome import Missing
from ..protocol import CaseDescription
from .calls import AllocatorCalls, Block
from .memory import PlaceMemory
from .subject import AllocatorSubject


class AllocatorCase(Case):
    """The case calls the subject as the library does that the ABI is named after."""

    subject: AllocatorSubject

    def __init__(
        self,
        described: CaseDescription,
        subject: AllocatorSubject,
        driver: Driver,
        operations: Mapping[str, Operation[Any]],
    ) -> None:
        super().__init__(described, subject, driver, operations)
        self.memory = PlaceMemory(driver)
        abi = subject.abi(subject.cls, driver)
        self.calls = AllocatorCalls(subject.abi_name, abi, self.memory, driver.recorder)
        self.blocks: dict[str, Block] = {}
        self.streams: dict[str, Stream] = {}
        #: Memory of devices that the worker took -> what gives it back.
        self.occupied: dict[str, Callable[[], None]] = {}

    def attach(self, device: int) -> None:
        self.memory.set_current(device)

    def block(self, name: str) -> Block:
        """The block of that name. Raises Missing."""
        try:
            return self.blocks[name]
        except KeyError:
            raise Missing(name) from None

    def stream(self, name: str) -> Stream:
        """The stream of that name. Raises Missing."""
        try:
            return self.streams[name]
        except KeyError:
            raise Missing(name) from None
