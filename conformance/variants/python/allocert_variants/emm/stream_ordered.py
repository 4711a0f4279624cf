"""Plugins that allocate and free in a stream of their own, in order with the default stream."""

from typing import Any

from allocert_mutants.emm.stream_ordered import OrderedBlocks, OrderedManager, let_wait
from numba.cuda.cudadrv.driver import driver

_DEFAULT_STREAM = 0
# Enough for each block that is used again with another size, and quick for large ones.
_OVERWRITTEN_BYTES = 65536


class _OverwrittenBlocks(OrderedBlocks):
    def free(self, address: int, size: int, stream: Any) -> None:
        driver.cuMemsetD8Async(address, 0xDD, min(size, _OVERWRITTEN_BYTES), stream)
        super().free(address, size, stream)


class WaitsForStream(OrderedManager):
    """Overwrites what is released, and waits for its stream before memory is returned.

    The next block may take the memory again while that work is still queued, and be smaller.
    """

    blocks_class = _OverwrittenBlocks


class _JoinedBlocks(_OverwrittenBlocks):
    def hand_out(self, stream: Any) -> None:
        let_wait(_DEFAULT_STREAM, stream)


class JoinsStreams(OrderedManager):
    """Lets the default stream wait for its stream before memory is returned."""

    blocks_class = _JoinedBlocks


class RefusesHandles(WaitsForStream):
    """Refuses handles itself, because the driver shares no memory of a pool."""

    allocert_capabilities = (*WaitsForStream.allocert_capabilities, "ipc")

    def get_ipc_handle(self, memory: Any) -> Any:
        raise RuntimeError("memory of the driver's pool cannot be shared with other processes")
