"""Consumers that write where they must not."""

import math

from allocert_mutants.cuda_driver import Stream

from .conforming_consumer import Consumer, View, fill
from .element_layout import byte_range, offsets


class WritesReadOnly(Consumer):
    """Writes to read-only data."""

    def write(self, view: View, byte: int) -> None:
        self.fill(view, byte, self.wait_for_producer(view))


class WritesGaps(Consumer):
    """Writes everything between the first and the last element."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        low, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        if math.prod(view.shape):
            fill(view.pointer + low, byte, high - low, own)
        self.make_producer_wait(view, own)


class Writes16Bytes(Consumer):
    """Writes 16 bytes for each element."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        for offset in offsets(view.shape, view.strides):
            fill(view.pointer + offset, byte, -(-view.dtype.itemsize // 16) * 16, own)
        self.make_producer_wait(view, own)
