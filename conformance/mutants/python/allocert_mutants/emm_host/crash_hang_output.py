"""Hosts that end the process, never return, or write output of their own."""

import atexit
import os
import sys
import time
from typing import Any

from .mutant_registry import Function, around, mutant


@mutant
def aborts(host: Any) -> None:
    """Aborts the process in device_array()."""
    host.device_array = lambda *_args, **_kwargs: os.abort()


@mutant
def hangs(host: Any) -> None:
    """Never returns from device_array()."""
    host.device_array = lambda *_args, **_kwargs: time.sleep(3600)


@mutant
def prints(host: Any) -> None:
    """Prints in device_array()."""

    @around(host, "device_array")
    def device_array(original: Function, *args: Any, **kwargs: Any) -> Any:
        print("device_array() was called")
        return original(*args, **kwargs)


@mutant
def prints_at_exit(host: Any) -> None:
    """Writes to standard error at the end of the process."""

    @around(host, "device_array")
    def device_array(original: Function, *args: Any, **kwargs: Any) -> Any:
        atexit.register(print, "the host ends", file=sys.stderr)
        return original(*args, **kwargs)


@mutant
def aborts_at_exit(host: Any) -> None:
    """Aborts at the end of the process."""

    @around(host, "device_array")
    def device_array(original: Function, *args: Any, **kwargs: Any) -> Any:
        atexit.register(os.abort)
        return original(*args, **kwargs)
