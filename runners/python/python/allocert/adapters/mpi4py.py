"""mpi4py: `MPI.buffer`, which describes what would be sent. Few builds of MPI read device memory, so none is sent."""

import mpi4py

# The suite starts and forks processes as it needs them; MPI would want to know of each.
mpi4py.rc.initialize = False

from mpi4py import MPI  # noqa: E402


class Consumer:
    library = "mpi4py"

    def accept(self, exporter, ignore_stream):
        if ignore_stream:
            raise NotImplementedError("mpi4py has no option for it")
        return MPI.buffer(exporter)

    def describe(self, buffer):
        return {"pointer": buffer.address, "read_only": buffer.readonly}
