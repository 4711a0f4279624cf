"""Starts the worker: `python FOLDER SOCKET`, or `python -m allocert.worker SOCKET`.

FOLDER is the directory of this file; it may have any name.
"""

import importlib
import os
import sys

# Every Python can read this file.
if sys.version_info < (3, 10):  # noqa: UP036
    _version = ".".join(map(str, sys.version_info[:2]))
    sys.exit("this is Python " + _version + "; the worker needs Python 3.10 or later")

# An import relative to a package that a script gives itself warns.
_package = __package__
if not _package:
    _folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(_folder)
    _package = os.path.basename(_folder)
_main = importlib.import_module(_package + ".main")

# The subject is found as `python -m` would find it: in the current directory first, and never in
# the worker's own folder.
try:
    sys.path[0] = os.getcwd()
except OSError:  # the directory was deleted; nothing can be found in it
    del sys.path[0]

if __name__ == "__main__":
    sys.exit(_main.main(sys.argv[1:]))
