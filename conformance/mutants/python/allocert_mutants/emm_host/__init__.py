"""Hosts of EMM plugins: numba-cuda with its known violations repaired, and mutants of it.

Each host is an attribute of this package. A host changes numba-cuda for the whole process, so it
does that only in a process that was forked after the import of this package, at its first use
there. The process that imported the package can load one host after the other.
"""

import os
from typing import Any

from numba import cuda

from . import (  # noqa: F401 - they register their mutants
    base_classes,
    crash_hang_output,
    finalizers,
    host_objects,
    ipc_handles,
    numba_repairs,
    plugin_calls,
    registration,
    reset_and_close,
)
from .mutant_registry import MUTATIONS, Mutation

_IMPORTED_IN = os.getpid()


class Host:
    """Offers what numba.cuda offers, and what is set on it instead."""

    def __init__(self, mutation: Mutation) -> None:
        self._mutation: Mutation | None = mutation

    def __getattr__(self, name: str) -> Any:
        if self._mutation is not None and os.getpid() != _IMPORTED_IN:
            mutation, self._mutation = self._mutation, None
            numba_repairs.apply(self)
            mutation(self)
            return getattr(self, name)
        return getattr(cuda, name)


def __getattr__(name: str) -> Host:
    if name == "repaired":
        return Host(lambda _host: None)
    if name not in MUTATIONS:
        raise AttributeError(f"no host {name}")
    return Host(MUTATIONS[name])
