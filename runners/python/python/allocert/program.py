"""The console script: becomes the bundled ``allocert`` program."""

import os
import pathlib
import sys
from typing import NoReturn

#: Where the wheel keeps the program and the shared libraries that it loads.
FOLDER = pathlib.Path(__file__).resolve().parent / "bin"


def main() -> NoReturn:
    """Replaces this process by the program.

    The program runs Python subjects with the interpreter that runs this.
    """
    program = FOLDER / "allocert"
    if not program.is_file():
        sys.exit(
            f"allocert: {program} is missing: this copy of the package was not built. "
            "Install it with `pip install .` from the repository's root."
        )
    environment = dict(os.environ)
    environment.setdefault("ALLOCERT_PYTHON", sys.executable)
    if sys.stdout is not None:  # whoever started this may have closed it
        sys.stdout.flush()
    os.execve(program, ["allocert", *sys.argv[1:]], environment)
