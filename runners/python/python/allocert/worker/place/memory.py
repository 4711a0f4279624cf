"""Bytes of blocks, wherever they lie. The driver calls are the worker's own."""

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import TypeVar

from .. import checked_memory
from ..checked_memory import MemoryFault
from ..device import Device, Stream
from ..driver import Driver
from ..outcome import DriverError
from ..uniform import uniform_byte_of_chunks
from .places import Place, PlaceKind

#: How much of a device's memory is read at a time.
_CHUNK_BYTES = 1 << 20

T = TypeVar("T")


class PlaceMemory:
    """What the worker reaches memory with."""

    def __init__(self, driver: Driver) -> None:
        self._driver, self._device = driver, Device(driver)
        self._contexts: dict[int, int] = {}

    def set_current(self, device: int) -> None:
        """Makes the primary context of a device current on this thread."""
        self._driver.set_current(self._context(device))

    def with_device_current(
        self, place: Place, always: bool, work: Callable[[], T]
    ) -> tuple[T, bool | None]:
        """Does something of the subject's while the device of the place is current.

        Without `always` only where no context is. Afterwards the same context is current as
        before. Also says whether the subject left the context current that it found: None for
        pageable memory of the host.
        """
        if place.kind == PlaceKind.CPU:
            return work(), None
        with self._driver.harness():
            found = given = self._driver.current()
            if always or not found:
                given = self._context(place.device)
                self._driver.set_current(given)
        left = None
        try:
            result = work()
        finally:
            with self._driver.harness():
                left = self._driver.current()
                self._driver.set_current(found)
        return result, left == given

    def new_stream(self, device: int) -> Stream:
        """A stream that does not wait for the default stream."""
        with self._in_context(device):
            return self._device.stream("non_blocking")

    def synchronize(self, stream: Stream) -> None:
        """Waits for all work of a stream."""
        self._device.synchronize(stream.handle)

    def queue_fill(
        self, place: Place, address: int, size_bytes: int, byte: int, stream: Stream
    ) -> None:
        """Queues on a stream that a byte is written."""
        with self._in_context(place.device):
            self._device.fill(address, byte, size_bytes, stream.handle)

    def occupy(self, device: int, size_bytes: int) -> Callable[[], None]:
        """Takes memory of a device for the worker. Returns what gives it back."""
        with self._in_context(device):
            return self._device.allocate("device", size_bytes).free

    def device_of(self, place: Place, address: int) -> int | None:
        """The device on which the driver says that an address lies."""
        if place.kind != PlaceKind.CUDA or not address:
            return None
        device: int | None = self._device.memory_at(address).get("device")
        return device

    def fill(self, place: Place, address: int, size_bytes: int, byte: int) -> None:
        """Writes a byte. Raises MemoryFault or DriverError."""
        if place.kind != PlaceKind.CUDA:
            checked_memory.fill(address, size_bytes, byte)
        elif size_bytes:
            with self._in_context(place.device):
                self._driver.fill(address, byte, size_bytes)
                # The fill is asynchronous; the copy waits for it.
                self._driver.read(address, 1)

    def uniform_byte(self, place: Place, address: int, size_bytes: int) -> int | None:
        """The byte that all of so many are equal to. Raises MemoryFault or DriverError."""
        if place.kind != PlaceKind.CUDA:
            return checked_memory.uniform_byte(address, size_bytes)
        with self._in_context(place.device):
            return uniform_byte_of_chunks(
                self._driver.read(address + start, min(size_bytes - start, _CHUNK_BYTES))
                for start in range(0, size_bytes, _CHUNK_BYTES)
            )

    def is_filled(self, place: Place, address: int, size_bytes: int, byte: int) -> bool:
        """Whether all bytes can be read and have this value."""
        try:
            return self.uniform_byte(place, address, size_bytes) == byte
        except (MemoryFault, DriverError):
            return False

    @contextlib.contextmanager
    def _in_context(self, device: int) -> Iterator[None]:
        """Inside its block the context of a device is current, and every call is the worker's."""
        with self._driver.harness():
            context = ctypes.c_void_p(self._context(device))
            self._driver.call("cuCtxPushCurrent_v2", context)
            try:
                yield
            finally:
                self._driver.call("cuCtxPopCurrent_v2", ctypes.byref(context))

    def _context(self, device: int) -> int:
        if device not in self._contexts:
            self._contexts[device] = self._driver.primary_context(device)
        return self._contexts[device]
