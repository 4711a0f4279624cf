"""Hosts that end the process, never return, or write output of their own."""

import atexit
import os
import time
from typing import Any

import numpy

from .repaired_numpy import mutant


@mutant
def aborts(host: Any) -> None:
    """Aborts the process in empty()."""
    host.empty = lambda *_arguments: os.abort()


@mutant
def hangs(host: Any) -> None:
    """Never returns from empty()."""
    host.empty = lambda *_arguments: time.sleep(3600)


@mutant
def prints(host: Any) -> None:
    """Prints in empty()."""

    def empty(*arguments: Any) -> Any:
        print("empty() was called")
        return numpy.empty(*arguments)

    host.empty = empty


@mutant
def aborts_at_exit(host: Any) -> None:
    """Aborts at the end of a process that made an array."""

    def empty(*arguments: Any) -> Any:
        atexit.register(os.abort)
        return numpy.empty(*arguments)

    host.empty = empty
