"""The handler that NumPy uses, through the extension module of allocert."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any

from ..refused import Refused


def are_available() -> bool:
    """Whether NumPy and the extension module can be imported here."""
    return _obstacle() is None


def needed_by(subject: str) -> None:
    """Raises Refused where NumPy or the extension module is missing."""
    missing = _obstacle()
    if missing is not None:
        raise Refused(
            "host",
            f"`{subject}` is no capsule, and what it installs is seen only with the packages numpy"
            f" and allocert, of which {missing}; {sys.executable} must have both",
        )


def _obstacle() -> str | None:
    try:
        from allocert import _allocert

        _allocert.default_data_handler()
    except Exception as error:  # noqa: BLE001 - a broken installation may raise anything
        return f"one cannot be imported ({error})"
    return None


def current() -> Any:
    """The capsule of the current handler."""
    from allocert import _allocert

    return _allocert.get_data_handler()


def install(capsule: Any) -> Any:
    """Makes a capsule the current handler. Returns the one before it."""
    from allocert import _allocert

    return _allocert.set_data_handler(capsule)


def multiarray() -> Any:
    """The module of NumPy that tells name and version of a handler."""
    try:
        return importlib.import_module("numpy._core.multiarray")
    except ModuleNotFoundError:  # NumPy before 2.0
        return importlib.import_module("numpy.core.multiarray")


class RecordedHandler:
    """Records what NumPy calls, and passes it on to the subject."""

    def __init__(self, address: int, capsule: Any) -> None:
        from allocert import _allocert

        self._capsule = _allocert.RecordingHandler(address, capsule).capsule()

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Inside its block NumPy takes memory from it, in this context."""
        before = install(self._capsule)
        try:
            yield
        finally:
            install(before)
