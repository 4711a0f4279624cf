"""The interface emm: memory managers for Numba, called directly and through real numba-cuda.

Nothing is imported before it is asked for: a peer process must not pay for Numba, and an interpreter may lack it.
"""

import os
import sys
import traceback

#: The distributions whose versions a reader of a report wants to know.
DISTRIBUTIONS = ("numba-cuda", "numba", "cuda-bindings", "cuda-core", "numpy")


def prepare(side):
    """Imports Numba and all operations, so that no child compiles again. Returns the classes of subjects and of cases."""
    from ..subject import Refused
    from ..text import bounded

    os.environ.pop("NUMBA_CUDA_MEMORY_MANAGER", None)
    os.environ.pop("NUMBA_ENABLE_CUDASIM", None)
    try:
        from .host.stage import HostStage
        from .host.subject import Host
        from .stage import Stage
        from .subject import Subject
    except BaseException as error:  # noqa: BLE001 - a broken installation may raise anything
        missing = isinstance(error, ModuleNotFoundError)
        what = "is not installed" if missing else "cannot be imported"
        advice = f"{sys.executable} -m pip install numba-cuda cuda-bindings nvidia-cuda-runtime"
        detail = "".join(traceback.format_exception(error))
        raise Refused(
            "host",
            f"numba-cuda {what} ({bounded(error, 500)}); to install it: {advice}",
            bounded(detail, 16384),
        ) from None
    return (Host, HostStage) if side == "emm-host" else (Subject, Stage)
