"""The threads that the steps of a case run on, one step at a time."""

import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class StepThread(Generic[T]):
    """A thread that performs what it is given, until `end`."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = begin
        self._work: queue.SimpleQueue[Callable[[], T] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[T | _WorkRaised] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def perform(self, work: Callable[[], T]) -> T:
        """Has the thread do it, and waits. Raises what `work` raises."""
        self._work.put(work)
        result = self._results.get()
        if isinstance(result, _WorkRaised):
            raise result.error
        return result

    def end(self) -> None:
        """Waits for the end of the thread."""
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        self._begin()
        while (work := self._work.get()) is not None:
            self._results.put(_result_of(work))


class _WorkRaised:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _result_of(work: Callable[[], T]) -> T | _WorkRaised:
    try:
        return work()
    except BaseException as error:  # noqa: BLE001 - the thread of the case raises it
        return _WorkRaised(error)


def on_fresh_thread(begin: Callable[[], None], work: Callable[[], T]) -> T:
    """Does it on a new thread, and waits for the end of the thread."""
    thread = StepThread[T](begin)
    try:
        return thread.perform(work)
    finally:
        thread.end()
