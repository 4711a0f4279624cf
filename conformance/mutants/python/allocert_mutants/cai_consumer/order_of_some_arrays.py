"""Consumers that order their work on some arrays with the exported stream, and on others not."""

import math

from allocert_mutants.cuda_driver import Memory, Stream, copy_rows

from .conforming_consumer import Consumer, View
from .offset_helpers import c_strides


def is_contiguous(view: View) -> bool:
    return view.strides == c_strides(view.shape, view.dtype.itemsize)


class OverlooksArrays(Consumer):
    """Orders nothing with the stream of the arrays that it overlooks."""

    def overlooks(self, view: View) -> bool:
        raise NotImplementedError

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        return (own or self.own_stream) if self.overlooks(view) else self.wait(view, own)

    def wait(self, view: View, own: Stream | None) -> Stream:
        return super().wait_for_producer(view, own)

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if not self.overlooks(view):
            super().make_producer_wait(view, own)


class OrdersContiguousOnly(OverlooksArrays):
    """Orders its work on arrays in C order without gaps, and on no other."""

    def overlooks(self, view: View) -> bool:
        return not is_contiguous(view)


class OverlooksReversedRows(OverlooksArrays):
    """Orders its work on arrays whose first stride is positive."""

    def overlooks(self, view: View) -> bool:
        return bool(view.shape) and view.strides[0] < 0


class OverlooksNegativeLastStride(OverlooksArrays):
    """Orders its work on arrays whose last stride is positive."""

    def overlooks(self, view: View) -> bool:
        return bool(view.shape) and view.strides[-1] < 0


class OverlooksBroadcast(OverlooksArrays):
    """Orders its work on arrays without strides of 0."""

    def overlooks(self, view: View) -> bool:
        return 0 in view.strides


class OverlooksFortranOrder(OverlooksArrays):
    """Orders its work on arrays that are not in Fortran order."""

    def overlooks(self, view: View) -> bool:
        reverse = c_strides(view.shape[::-1], view.dtype.itemsize)
        return len(view.shape) > 1 and view.strides == reverse[::-1]


class OverlooksStridedVectors(OverlooksArrays):
    """Orders its work on all matrices, and on vectors without gaps."""

    def overlooks(self, view: View) -> bool:
        return len(view.shape) == 1 and not is_contiguous(view)


class OverlooksMatrices(OverlooksArrays):
    """Orders its work on arrays that have not two axes."""

    def overlooks(self, view: View) -> bool:
        return len(view.shape) == 2


class OverlooksCubes(OverlooksArrays):
    """Orders its work on arrays of at most two axes."""

    def overlooks(self, view: View) -> bool:
        return len(view.shape) > 2


class OverlooksScalars(OverlooksArrays):
    """Orders its work on arrays that have axes."""

    def overlooks(self, view: View) -> bool:
        return not view.shape


class OverlooksSingleElements(OverlooksArrays):
    """Orders its work on arrays of more than one element."""

    def overlooks(self, view: View) -> bool:
        return math.prod(view.shape) == 1 and bool(view.shape)


class OverlooksLargeArrays(OverlooksArrays):
    """Orders its work on arrays of at most 64 KiB."""

    def overlooks(self, view: View) -> bool:
        return math.prod(view.shape) * view.dtype.itemsize > 1 << 16


class OrdersFloatsAndBytesOnly(OverlooksArrays):
    """Orders its work on float32 and on bytes."""

    def overlooks(self, view: View) -> bool:
        return view.typestr not in ("<f4", "|u1")


class NeverWaitsForReversed(OverlooksArrays):
    """Does not wait for the stream of reversed arrays, and makes it wait all the same."""

    def overlooks(self, view: View) -> bool:
        return any(stride < 0 for stride in view.strides)

    def make_producer_wait(self, view: View, own: Stream) -> None:
        Consumer.make_producer_wait(self, view, own)


class NoBackEdgeFromStrided(OrdersContiguousOnly):
    """Waits for the stream of every array, and makes that of contiguous ones alone wait."""

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        return self.wait(view, own)


class NoBackEdgeFromCopyOfPitchedRows(Consumer):
    """Reads rows with gaps by a copy of rows, and does not make the producer wait for it."""

    def copy(self, view: View, own: Stream) -> None:
        if len(view.shape) != 2 or is_contiguous(view) or min(view.strides) <= 0:
            super().copy(view, own)
            return
        (height, columns), (pitch_bytes, step_bytes) = view.shape, view.strides
        width_bytes = (columns - 1) * step_bytes + view.dtype.itemsize
        if width_bytes > pitch_bytes:
            super().copy(view, own)
            return
        self.scratch.append(Memory("device", pitch_bytes * height))
        target = self.scratch[-1].base
        copy_rows(view.pointer, target, pitch_bytes, width_bytes, height, own)
