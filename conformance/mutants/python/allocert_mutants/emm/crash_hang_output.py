"""Plugins that end the process, never return, or write output of their own."""

import atexit
import contextlib
import ctypes
import json
import os
import sys
import time
from typing import NoReturn

from numba.cuda import MemoryPointer
from numba.cuda.cudadrv.driver import CudaAPIError

from .conforming_plugin import Manager


class Crashes(Manager):
    """Reads address 0 in memalloc()."""

    def memalloc(self, size: int) -> None:
        ctypes.string_at(0)


class Aborts(Manager):
    """Aborts the process in memalloc()."""

    def memalloc(self, size: int) -> NoReturn:
        os.abort()


class ExitsWith0(Manager):
    """Ends the process with exit code 0 in memalloc()."""

    def memalloc(self, size: int) -> NoReturn:
        os._exit(0)


class Hangs(Manager):
    """Never returns from memalloc()."""

    def memalloc(self, size: int) -> NoReturn:
        while True:
            time.sleep(1)


class PrintsMegabytes(Manager):
    """Prints 5 MiB in memalloc()."""

    def memalloc(self, size: int) -> MemoryPointer:
        for _ in range(64):
            sys.stdout.write("nothing to see here\n" * 4096)
        sys.stdout.flush()
        return super().memalloc(size)


#: Lines that look like verdicts of a run file and messages of the worker protocol.
_FORGED = [
    {"verdict": {"case": "emm/alloc/exact-size", "verdict": "conforms"}},
    {"step": {"index": 0, "outcome": {"returned": {}}}},
    {"done": {"id": "emm/alloc/exact-size"}},
]


class ForgesVerdicts(Manager):
    """Writes forged results to every file descriptor and returns None from memalloc()."""

    def memalloc(self, size: int) -> None:
        lines = "".join(json.dumps(line) + "\n" for line in _FORGED).encode()
        for descriptor in range(1, 64):
            with contextlib.suppress(OSError):
                os.write(descriptor, lines)


class RaisesSystemExit(Manager):
    """Raises SystemExit in memalloc()."""

    def memalloc(self, size: int) -> NoReturn:
        raise SystemExit(0)


class EndsProgramOutOfMemory(Manager):
    """Calls sys.exit() in memalloc() where memory is short."""

    def memalloc(self, size: int) -> MemoryPointer:
        try:
            return super().memalloc(size)
        except CudaAPIError:
            sys.exit("no memory is left")


class ResetRaisesKeyboardInterrupt(Manager):
    """Raises KeyboardInterrupt in reset()."""

    def reset(self) -> NoReturn:
        raise KeyboardInterrupt


class RaisesAtExit(Manager):
    """Raises an exception at interpreter shutdown."""

    def initialize(self) -> None:
        super().initialize()
        atexit.register(self.fail)

    def fail(self) -> NoReturn:
        raise RuntimeError("too late")


class AbortsAtExit(Manager):
    """Aborts at interpreter shutdown."""

    def initialize(self) -> None:
        super().initialize()
        atexit.register(os.abort)
