"""Hosts whose PyDataMem_SetHandler() or PyDataMem_GetHandler() is faulty."""

import ctypes
from typing import Any

from allocert import _allocert

from .repaired_numpy import mutant, rename


@mutant
def ignores_handlers(host: Any) -> None:
    """Installs no handler."""
    host.PyDataMem_SetHandler = lambda _capsule: _allocert.get_data_handler()


@mutant
def returns_new_handler(host: Any) -> None:
    """Returns the handler that it installs, not the one before."""

    def set_handler(capsule: Any) -> Any:
        _allocert.set_data_handler(capsule)
        return _allocert.get_data_handler()

    host.PyDataMem_SetHandler = set_handler


@mutant
def null_changes_nothing(host: Any) -> None:
    """Keeps the installed handler where it is given null."""
    own = host.PyDataMem_SetHandler
    host.PyDataMem_SetHandler = lambda capsule: (
        _allocert.get_data_handler() if capsule is None else own(capsule)
    )


@mutant
def accepts_any_capsule(host: Any) -> None:
    """Installs the handler of a capsule with any name."""
    own = host.PyDataMem_SetHandler
    host.PyDataMem_SetHandler = lambda capsule: own(capsule and rename(capsule))


@mutant
def leaks_at_refusal(host: Any) -> None:
    """Keeps a reference to the installed handler for each capsule that it refuses."""
    host.checks = ("functions", "version", "name")


@mutant
def accepts_null_functions(host: Any) -> None:
    """Installs a handler with a function that is null."""
    host.checks = ("capsule", "version", "name")


@mutant
def accepts_any_version(host: Any) -> None:
    """Installs a handler of version 0."""
    host.checks = ("capsule", "functions", "name")


@mutant
def accepts_endless_names(host: Any) -> None:
    """Installs a handler whose name has no NUL."""
    host.checks = ("capsule", "functions", "version")


@mutant
def gets_default_handler(host: Any) -> None:
    """Returns the default handler from PyDataMem_GetHandler(), whatever is installed."""
    host.PyDataMem_GetHandler = _allocert.default_data_handler


@mutant
def get_leaks(host: Any) -> None:
    """Adds a reference to the handler that PyDataMem_GetHandler() returns."""

    def get_handler() -> Any:
        handler = _allocert.get_data_handler()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(handler))
        return handler

    host.PyDataMem_GetHandler = get_handler
