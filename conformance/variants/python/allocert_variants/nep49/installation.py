"""The ways to give NumPy a handler."""

import contextlib
from types import TracebackType

import allocert.numpy


def install() -> None:
    """Installs the handler, and leaves it there."""
    allocert.numpy.install()


def capsule() -> object:
    """Returns the capsule, and installs nothing."""
    return allocert.numpy.handler()


class During:
    """Installs the handler for a block of code."""

    def __init__(self) -> None:
        self._installed: list[contextlib.AbstractContextManager[None]] = []

    def __enter__(self) -> "During":
        self._installed.append(allocert.numpy.installed())
        self._installed[-1].__enter__()
        return self

    def __exit__(
        self,
        cls: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._installed.pop().__exit__(cls, error, trace)


during = During()
