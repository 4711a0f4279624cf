"""The console script: becomes the bundled ``allocert`` program."""

import os
import pathlib
import sys
from typing import NoReturn

from .errors import AllocertError

#: Where the wheel keeps the program and the shared libraries that it loads.
FOLDER = pathlib.Path(__file__).resolve().parent / "bin"


def main() -> NoReturn:
    """Replaces this process by the program."""
    try:
        program = executable()
    except AllocertError as error:
        sys.exit(f"allocert: {error}")
    if sys.stdout is not None:  # whoever started this may have closed it
        sys.stdout.flush()
    os.execve(program, ["allocert", *sys.argv[1:]], environment(sys.executable))


def executable() -> pathlib.Path:
    """The program. Raises AllocertError if the package has none."""
    program = FOLDER / "allocert"
    if not program.is_file():
        raise AllocertError(
            f"{program} is missing: this copy of the package was not built. "
            "Install it with `pip install .` from the repository's root.",
            3,
        )
    return program


def environment(interpreter: str) -> dict[str, str]:
    """The variables for the program, which runs Python subjects with this interpreter."""
    variables = dict(os.environ)
    variables.setdefault("ALLOCERT_PYTHON", interpreter)
    return variables
