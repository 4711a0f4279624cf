"""Variants that CuPy's PythonFunctionAllocator calls."""

import ctypes

from allocert_mutants.cuda_driver import CallError, call
from allocert_mutants.place.conforming_allocator import Blocks, current

_blocks = Blocks()


def _malloc(size: int, device: int) -> int:
    """Returns 0 where there is no memory."""
    try:
        return _blocks.take(device, size)
    except CallError:
        return 0


def _free(address: int, device: int) -> None:
    _blocks.give(device, address)


#: A pair of functions, as the arguments of PythonFunctionAllocator.
pair = (_malloc, _free)


class Pieces:
    """Cuts small blocks out of pieces of 2 MiB, and keeps what is freed for requests of its size.

    It waits for the device before it keeps a block. Where the driver has no memory, it gives back
    every piece in which no block is live.
    """

    _PIECE_BYTES = 2 << 20

    def __init__(self) -> None:
        self._blocks = Blocks()
        #: Piece -> the first byte of it that was never given out.
        self._pieces: dict[int, int] = {}
        self._kept: dict[int, list[int]] = {}
        self._live: dict[int, int] = {}

    def malloc(self, size: int, device: int) -> int:
        rounded = -(-size // 512) * 512
        kept = self._kept.get(rounded)
        if kept:
            address = kept.pop()
        elif rounded > self._PIECE_BYTES:
            address = self._from_driver(rounded, device)
        else:
            address = self._cut(rounded, device)
        self._live[address] = rounded
        return address

    def free(self, address: int, device: int) -> None:
        rounded = self._live.pop(address)
        if rounded > self._PIECE_BYTES:
            self._blocks.give(device, address)
            return
        with current(device):
            call("cuCtxSynchronize")
        self._kept.setdefault(rounded, []).append(address)

    def _from_driver(self, size_bytes: int, device: int) -> int:
        try:
            return self._blocks.take(device, size_bytes)
        except CallError:
            self._release(device)
            return self._blocks.take(device, size_bytes)

    def _cut(self, rounded: int, device: int) -> int:
        for piece, first in self._pieces.items():
            if first + rounded <= piece + self._PIECE_BYTES:
                self._pieces[piece] = first + rounded
                return first
        piece = self._from_driver(self._PIECE_BYTES, device)
        self._pieces[piece] = piece + rounded
        return piece

    def _release(self, device: int) -> None:
        for piece in list(self._pieces):
            end = piece + self._PIECE_BYTES
            if any(piece <= address < end for address in self._live):
                continue
            del self._pieces[piece]
            for size, kept in self._kept.items():
                self._kept[size] = [one for one in kept if not piece <= one < end]
            with current(device):
                call("cuMemFree_v2", ctypes.c_uint64(piece))
