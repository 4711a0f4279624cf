"""``python <this directory> SOCKET``, under whatever name the directory has, and ``python -m allocert.worker SOCKET``."""

import os
import sys

if not __package__:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(here)
    __package__ = os.path.basename(here)
    __import__(__package__)

# The subject is found as `python -m` would find it: the current directory first, and nothing of
# ours.
from . import main as _main  # noqa: E402

try:
    sys.path[0] = os.getcwd()
except OSError:  # it was deleted; nothing can be found in it
    del sys.path[0]

if __name__ == "__main__":
    sys.exit(_main.main(sys.argv[1:]))
