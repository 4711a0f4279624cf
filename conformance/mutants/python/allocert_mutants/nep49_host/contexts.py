"""Hosts that do not keep the handler in a context variable as they should."""

import sys
import threading
from inspect import CO_GENERATOR
from typing import Any

from allocert import _allocert

from .repaired_numpy import mutant


class _Process:
    """The handler that was installed last in the process, and on which thread."""

    def __init__(self, host: Any) -> None:
        self.capsule: Any = None
        self.thread = 0
        self._set = host.PyDataMem_SetHandler

    def set_handler(self, capsule: Any) -> Any:
        self.capsule, self.thread = capsule, threading.get_ident()
        return self._set(capsule)


@mutant
def one_handler_for_all(host: Any) -> None:
    """Uses what was installed last in any context."""
    process, own = _Process(host), host.private.get_handler_name

    def get_handler_name(*array: Any) -> Any:
        if not array:
            _allocert.set_data_handler(process.capsule)
        return own(*array)

    host.PyDataMem_SetHandler = process.set_handler
    host.private.get_handler_name = get_handler_name


@mutant
def forgets_handler_on_threads(host: Any) -> None:
    """Begins with the default handler on every thread, also in a copied context."""
    process, own = _Process(host), host.private.get_handler_name

    def get_handler_name(*array: Any) -> Any:
        if not array and threading.get_ident() != process.thread:
            _allocert.set_data_handler(None)
        return own(*array)

    host.PyDataMem_SetHandler = process.set_handler
    host.private.get_handler_name = get_handler_name


@mutant
def fills_empty_contexts(host: Any) -> None:
    """Begins in an empty context with what was installed last."""
    process, own = _Process(host), host.private.get_handler_name

    def get_handler_name(*array: Any) -> Any:
        if not array and own() == "default_allocator":
            _allocert.set_data_handler(process.capsule)
        return own(*array)

    host.PyDataMem_SetHandler = process.set_handler
    host.private.get_handler_name = get_handler_name


@mutant
def ignores_generators(host: Any) -> None:
    """Installs no handler for a generator."""
    own = host.PyDataMem_SetHandler

    def set_handler(capsule: Any) -> Any:
        frame: Any = sys._getframe()
        while frame is not None:
            if frame.f_code.co_flags & CO_GENERATOR:
                return _allocert.get_data_handler()
            frame = frame.f_back
        return own(capsule)

    host.PyDataMem_SetHandler = set_handler
