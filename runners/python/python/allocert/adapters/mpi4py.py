"""mpi4py: `MPI.buffer`, which describes what would be sent.

Few builds of MPI read device memory, so nothing is sent.
"""

from typing import Any

import mpi4py

from .array_spec import Description

# The suite starts and forks processes as it needs them; MPI would want to know of each.
mpi4py.rc.initialize = False

from mpi4py import MPI  # noqa: E402


class Consumer:
    """Takes arrays by `MPI.buffer`."""

    library = "mpi4py"

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        if ignore_stream:
            raise NotImplementedError("mpi4py has no option for it")
        return MPI.buffer(exporter)

    def describe(self, buffer: Any) -> Description:
        return {"pointer": buffer.address, "read_only": buffer.readonly}
