"""What `emm` and `emm-host` share: Numba's contexts and memory objects, and a second process.

Importing this package imports no Numba: the second process of an IPC case does without it, and an
interpreter may lack it.
"""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator

from ..extras import advice
from ..refused import Refused
from ..safe_text import bounded

#: The distributions whose versions stand in a report.
DISTRIBUTIONS = ("numba-cuda", "numba", "cuda-bindings", "cuda-core", "numpy")


@contextlib.contextmanager
def numba_imports() -> Iterator[None]:
    """Around imports that need Numba. Raises Refused, with what to install, if one fails."""
    os.environ.pop("NUMBA_CUDA_MEMORY_MANAGER", None)
    os.environ.pop("NUMBA_ENABLE_CUDASIM", None)
    try:
        yield
    except BaseException as error:  # noqa: BLE001 - a broken installation may raise anything
        missing = isinstance(error, ModuleNotFoundError)
        what = "is not installed" if missing else "cannot be imported"
        command = f"{sys.executable} -m pip install numba-cuda cuda-bindings nvidia-cuda-runtime"
        detail = "".join(traceback.format_exception(error))
        install = command + advice(error, "numba")
        raise Refused(
            "host",
            f"numba-cuda {what} ({bounded(error, 500)}); to install it: {install}",
            bounded(detail, 16384),
        ) from None
