"""The operation that runs code elsewhere: in a thread, a task, a context or a generator."""

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from ..operations import Arguments, Facts, OperationTable
from .case import HandlerHostCase

OPERATIONS: OperationTable[HandlerHostCase] = OperationTable()


@OPERATIONS.register
def elsewhere(case: HandlerHostCase, _on: str, arguments: Arguments) -> Facts:
    found: Facts = {}
    capsule = case.handlers.new(arguments["handler"])

    def code() -> None:
        found["inside"] = case.handler_name()
        case.subject.set_handler(capsule)
        found["made_with"] = case.handler_name(case.host.empty(3))

    _PLACES[arguments["place"]](code)
    return {**found, "outside": case.handler_name()}


def _thread(code: Callable[[], None]) -> None:
    # Its error is raised here.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(code).result()


def _task(code: Callable[[], None]) -> None:
    async def run() -> None:
        code()

    async def main() -> None:
        await asyncio.create_task(run())

    asyncio.run(main())


def _generator(code: Callable[[], None]) -> None:
    def generate() -> Iterator[None]:
        code()
        yield

    next(generate())


_PLACES: dict[str, Callable[[Callable[[], None]], None]] = {
    "thread": _thread,
    "copied_context": lambda code: contextvars.copy_context().run(code),
    "empty_context": lambda code: contextvars.Context().run(code),
    "task": _task,
    "to_thread": lambda code: asyncio.run(asyncio.to_thread(code)),
    "generator": _generator,
}
