"""Hosts of handlers: NumPy with its set-up of handlers repaired, and mutants of it.

Each host is an attribute of this package. What NumPy breaks itself and no wrapper can repair stays
broken in all of them: `as_it_is` is NumPy alone.
"""

from typing import Any

import numpy

from . import (  # noqa: F401 - they register their mutants
    arrays,
    contexts,
    crash_hang_output,
    names,
    requests,
    set_and_get_handler,
)
from .repaired_numpy import MUTATIONS, Host


def __getattr__(name: str) -> Any:
    if name == "as_it_is":
        return numpy
    if name == "repaired":
        return Host()
    if name not in MUTATIONS:
        raise AttributeError(f"no host {name}")
    host = Host()
    MUTATIONS[name](host)
    return host
