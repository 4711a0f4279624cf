"""Consumers that write where they must not."""

import ctypes
import math

from allocert_mutants.cuda_driver import Memory, Stream, call, call_without_check

from .conforming_consumer import Consumer, HostArray, View, fill
from .offset_helpers import byte_range, offsets


class WritesReadOnly(Consumer):
    """Writes to read-only data."""

    def write(self, view: View, byte: int) -> None:
        self.fill(view, byte, self.wait_for_producer(view))


class WritesOtherBytes(Consumer):
    """Writes another byte than it is told."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        super().fill(view, byte ^ 1, own)


class WritesGaps(Consumer):
    """Writes everything between the first and the last element."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        low, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        if math.prod(view.shape):
            fill(view.pointer + low, byte, high - low, own)
        self.make_producer_wait(view, own)


class WritesRowGaps(Consumer):
    """Writes the gaps between the rows of a matrix."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        rows = view.shape[0] if len(view.shape) == 2 else 0
        if rows and view.shape[1] and view.strides[0] > view.strides[1] == view.dtype.itemsize:
            last = view.shape[1] * view.dtype.itemsize
            fill(view.pointer, byte, (rows - 1) * view.strides[0] + last, own)
        super().fill(view, byte, own)


class Writes16Bytes(Consumer):
    """Writes 16 bytes for each element."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        for offset in offsets(view.shape, view.strides):
            fill(view.pointer + offset, byte, -(-view.dtype.itemsize // 16) * 16, own)
        self.make_producer_wait(view, own)


class ReadsWholeWords(Consumer):
    """Reads a multiple of 8 bytes."""

    def read(self, view: View) -> HostArray:
        low, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        own = self.wait_for_producer(view)
        words = -(-(high - low) // 8) * 8
        host = ctypes.create_string_buffer(max(words, 1))
        address, size = ctypes.c_uint64(view.pointer + low), ctypes.c_size_t(words)
        if words:
            call("cuMemcpyDtoHAsync_v2", host, address, size, ctypes.c_void_p(own.handle))
        self.make_producer_wait(view, own)
        return super().read(view)


class ReadsFromAlignedAddress(Consumer):
    """Reads from a multiple of 16 bytes on."""

    def read(self, view: View) -> HostArray:
        low, _ = byte_range(view.shape, view.strides, view.dtype.itemsize)
        in_front = (view.pointer + low) % 16 if math.prod(view.shape) else 0
        own = self.wait_for_producer(view)
        if in_front:
            host, size = ctypes.create_string_buffer(in_front), ctypes.c_size_t(in_front)
            address = ctypes.c_uint64(view.pointer + low - in_front)
            call("cuMemcpyDtoHAsync_v2", host, address, size, ctypes.c_void_p(own.handle))
        return super().read(view)


class ReadsByteInFront(Consumer):
    """Reads the byte in front of the elements too, where there is one."""

    def read(self, view: View) -> HostArray:
        low, _ = byte_range(view.shape, view.strides, view.dtype.itemsize)
        own = self.wait_for_producer(view)
        host, size = ctypes.create_string_buffer(1), ctypes.c_size_t(1)
        address = ctypes.c_uint64(view.pointer + low - 1)
        if math.prod(view.shape):
            handle = ctypes.c_void_p(own.handle)
            call_without_check("cuMemcpyDtoHAsync_v2", host, address, size, handle)
        return super().read(view)


class WritesFromAlignedAddress(Consumer):
    """Writes from a multiple of 16 bytes on."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        low, _ = byte_range(view.shape, view.strides, view.dtype.itemsize)
        in_front = (view.pointer + low) % 16 if math.prod(view.shape) else 0
        if in_front:
            fill(view.pointer + low - in_front, byte, in_front, own)
        super().fill(view, byte, own)


class WritesWholeWords(Consumer):
    """Writes a multiple of 8 bytes, and puts back what was behind the last element."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        low, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        behind = -(high - low) % 8
        if behind:
            address, size = ctypes.c_uint64(view.pointer + high), ctypes.c_size_t(behind)
            kept = ctypes.create_string_buffer(behind)
            handle = ctypes.c_void_p(own.handle)
            call("cuMemcpyDtoHAsync_v2", kept, address, size, handle)
            call("cuStreamSynchronize", handle)
            call("cuMemcpyHtoDAsync_v2", address, kept, size, handle)
        super().fill(view, byte, own)


class LaunchWritesReadOnly(Consumer):
    """Writes to the arguments of a launch that it should only read."""

    def copy(self, view: View, own: Stream) -> None:
        self.fill(view, 0, own)


class LaunchWritesWholeBlocks(Consumer):
    """Writes the rest of a block of 64 bytes behind the last element in a launch."""

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        own = super().wait_for_argument(index, view, own)
        _, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        if not view.read_only:
            fill(view.pointer + high, 0, -high % 64, own)
        return own


class LaunchReadsWholeBlocks(Consumer):
    """Reads the rest of a block of 64 bytes behind the last element in a launch."""

    def copy(self, view: View, own: Stream) -> None:
        _, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        self.read_beside(view.pointer + high, -high % 64, own)
        super().copy(view, own)

    def read_beside(self, start: int, size_bytes: int, own: Stream) -> None:
        self.scratch.append(Memory("device", size_bytes))
        target = ctypes.c_uint64(self.scratch[-1].base)
        address, size = ctypes.c_uint64(start), ctypes.c_size_t(size_bytes)
        if size_bytes:
            call("cuMemcpyDtoDAsync_v2", target, address, size, ctypes.c_void_p(own.handle))


class LaunchReadsFromAlignedAddress(LaunchReadsWholeBlocks):
    """Reads from a multiple of 16 bytes on in a launch."""

    def copy(self, view: View, own: Stream) -> None:
        low, _ = byte_range(view.shape, view.strides, view.dtype.itemsize)
        in_front = (view.pointer + low) % 16 if math.prod(view.shape) else 0
        self.read_beside(view.pointer + low - in_front, in_front, own)
        Consumer.copy(self, view, own)


class ReadsBlocksOfLargeElements(Consumer):
    """Reads a multiple of 64 bytes of elements that are larger than one byte."""

    def read(self, view: View) -> HostArray:
        low, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        behind = -(high - low) % 64 if view.dtype.itemsize > 1 else 0
        own = self.wait_for_producer(view)
        if behind:
            host, size = ctypes.create_string_buffer(behind), ctypes.c_size_t(behind)
            address, handle = ctypes.c_uint64(view.pointer + high), ctypes.c_void_p(own.handle)
            call_without_check("cuMemcpyDtoHAsync_v2", host, address, size, handle)
        return super().read(view)


class ReadsGapBehindLastRow(Consumer):
    """Reads each row of a matrix with the gap that follows it."""

    def read(self, view: View) -> HostArray:
        own = self.wait_for_producer(view)
        if len(view.shape) == 2 and 0 not in view.shape:
            row = view.shape[1] * view.dtype.itemsize
            gap = max(view.strides[0] - row, 0)
            last = view.pointer + (view.shape[0] - 1) * view.strides[0]
            host, size = ctypes.create_string_buffer(gap + 1), ctypes.c_size_t(gap)
            address, handle = ctypes.c_uint64(last + row), ctypes.c_void_p(own.handle)
            if gap:
                call_without_check("cuMemcpyDtoHAsync_v2", host, address, size, handle)
        return super().read(view)
