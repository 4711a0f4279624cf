"""A plugin that conforms on the driver's stream-ordered pool, and one that forgets the order."""

from typing import Any

from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import Blocks, Manager, current

_DEFAULT_STREAM = 0
_NON_BLOCKING = 1
_NO_TIMING = 2


class OrderedBlocks(Blocks):
    """Allocates and frees in a stream that the default stream does not wait for."""

    def __init__(self) -> None:
        super().__init__()
        self._context: Any = None
        self._stream: Any = None
        self._sizes: dict[int, int] = {}

    def take(self, size: int) -> int:
        if self._stream is None:
            self._context = driver.cuCtxGetCurrent()
            self._stream = driver.cuStreamCreate(_NON_BLOCKING)
        address = int(driver.cuMemAllocAsync(size, self._stream))
        self._sizes[address] = size
        self.hand_out(self._stream)
        return address

    def hand_out(self, stream: Any) -> None:
        """Makes the blocks of the stream ready for the default stream."""
        driver.cuStreamSynchronize(stream)

    def give(self, address: int) -> None:
        # A finalizer may run while no context is current, and the default stream is the context's.
        with current(self._context):
            let_wait(self._stream, _DEFAULT_STREAM)
            self.free(address, self._sizes.pop(address), self._stream)

    def free(self, address: int, size: int, stream: Any) -> None:
        """Queues the free. The stream has the work of the default stream before it."""
        driver.cuMemFreeAsync(address, stream)

    def reset(self) -> None:
        super().reset()
        if self._stream is not None:
            driver.cuStreamSynchronize(self._stream)
            driver.cuStreamDestroy(self._stream)
            self._stream = None


def let_wait(stream: Any, other: Any) -> None:
    """Lets a stream wait for what is queued in another one."""
    event = driver.cuEventCreate(_NO_TIMING)
    driver.cuEventRecord(event, other)
    driver.cuStreamWaitEvent(stream, event, 0)
    driver.cuEventDestroy(event)


class OrderedManager(Manager):
    """Serves device memory from the stream-ordered pool, which other processes cannot open."""

    allocert_capabilities: tuple[str, ...] = ("host_memory", "memory_info")
    blocks_class: type[Blocks] = OrderedBlocks


class _UnorderedBlocks(OrderedBlocks):
    def hand_out(self, stream: Any) -> None:
        pass


class ForgetsOrder(OrderedManager):
    """Returns memory that only its own stream may use yet."""

    blocks_class = _UnorderedBlocks
