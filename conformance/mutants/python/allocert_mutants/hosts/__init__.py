"""Hosts of EMM plugins: real numba-cuda with its known violations repaired, and mutants of that which break one requirement each.

Each is an attribute of this package. What it changes of numba-cuda it changes for the whole process, so it does so in a process that
was forked after the import, at the first use there: the one that imported the package may load one after the other.
"""

import os

from numba import cuda

from . import asking, handles, lifetime, registering, repairs, serving  # noqa: F401 - they register their mutants
from .registry import MUTANTS

_IMPORTED_IN = os.getpid()


class Host:
    """Offers what numba.cuda offers, except for what is set on it."""

    def __init__(self, damage):
        self._damage = damage

    def __getattr__(self, name):
        if self._damage is not None and os.getpid() != _IMPORTED_IN:
            damage, self._damage = self._damage, None
            repairs.apply(self)
            damage(self)
            return getattr(self, name)
        return getattr(cuda, name)


def __getattr__(name):
    if name == "repaired":
        return Host(lambda _host: None)
    if name not in MUTANTS:
        raise AttributeError(f"no host {name}")
    return Host(MUTANTS[name])
