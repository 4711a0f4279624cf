"""Plugins that take the process with them, or try to talk past the judge."""

import atexit
import ctypes
import json
import os
import sys
import time

from .honest import Manager


class Crashes(Manager):
    def memalloc(self, size):
        ctypes.string_at(0)


class Aborts(Manager):
    def memalloc(self, size):
        os.abort()


class Exits(Manager):
    """Leaves with the code of success."""

    def memalloc(self, size):
        os._exit(0)


class Hangs(Manager):
    def memalloc(self, size):
        while True:
            time.sleep(1)


class Floods(Manager):
    def memalloc(self, size):
        for _ in range(64):
            sys.stdout.write("nothing to see here\n" * 4096)
        sys.stdout.flush()
        return super().memalloc(size)


#: What a verdict and a protocol line look like, for every descriptor that will take them.
_FORGED = [
    {"verdict": {"case": "emm/alloc/exact-size", "verdict": "conforms"}},
    {"step": {"index": 0, "outcome": {"returned": {}}}},
    {"done": {"id": "emm/alloc/exact-size"}},
]


class Forges(Manager):
    """Writes good news to every descriptor that is not its own, and returns nothing."""

    def memalloc(self, size):
        lines = "".join(json.dumps(line) + "\n" for line in _FORGED).encode()
        for descriptor in range(1, 64):
            try:
                os.write(descriptor, lines)
            except OSError:
                continue


class RaisesSystemExit(Manager):
    def memalloc(self, size):
        raise SystemExit(0)


class ChattersAtExit(Manager):
    """Leaves a traceback behind when the interpreter shuts down."""

    def initialize(self):
        super().initialize()
        atexit.register(self.complain)

    def complain(self):
        raise RuntimeError("too late")


class CrashesAtExit(Manager):
    def initialize(self):
        super().initialize()
        atexit.register(os.abort)
