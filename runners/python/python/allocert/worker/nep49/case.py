"""A case of `nep49`: the blocks that its steps named, and the handler's functions."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..case import Case
from ..driver import Driver
from ..operations import Facts, Operation
from ..outcome import Missing, raised
from ..protocol import CaseDescription, Outcome, StepDescription
from . import gil_watch
from .block_source import Block, HandlerBlocks
from .handler import HandlerCalls
from .numpy_handlers import RecordedHandler
from .subject import HandlerSubject


class MadeArray(NamedTuple):
    """An array in memory of the handler."""

    array: Any
    #: What it holds as long as nothing is wrong.
    content: Any


class HandlerCase(Case):
    """The case calls the functions of the handler, or lets NumPy call them."""

    subject: HandlerSubject

    def __init__(
        self,
        described: CaseDescription,
        subject: HandlerSubject,
        driver: Driver,
        operations: Mapping[str, Operation[Any]],
    ) -> None:
        super().__init__(described, subject, driver, operations)
        self.calls = HandlerCalls(subject.handler, driver.recorder)
        self.blocks: dict[str, Block] = {}
        self.source = HandlerBlocks(self.calls)
        self.arrays: dict[str, MadeArray] = {}
        self._recorded: RecordedHandler | None = None

    def perform(self, step: StepDescription) -> Outcome:
        outcome = super().perform(step)
        try:
            gil_watch.WATCH.check()
        except gil_watch.GilNotHeld as error:
            return raised(error)
        return outcome

    def recorded_handler(self) -> RecordedHandler:
        """The subject as NumPy calls it: each call is recorded."""
        if self._recorded is None:
            self._recorded = RecordedHandler(self.subject.handler.address, self.subject.capsule)
        return self._recorded

    def bind(self, name: str, address: int, size_bytes: int) -> Facts:
        """Binds the name to a block, unless it is null. The facts of the block."""
        if address:
            self.blocks[name] = Block(address, size_bytes)
        kind = "block" if address else "none"
        return {"kind": kind, "pointer": address, "size_bytes": size_bytes}

    def block(self, name: str) -> Block:
        """The block of that name. Raises Missing."""
        try:
            return self.blocks[name]
        except KeyError:
            raise Missing(name) from None

    def take(self, name: str) -> Block:
        """The block of that name, which stands for nothing afterwards. Raises Missing."""
        block = self.block(name)
        del self.blocks[name]
        return block
