"""Mutants that CuPy's PythonFunctionAllocator calls."""

import ctypes
import os
from typing import Any

from ..cuda_driver import CallError, call
from .conforming_allocator import OUT_OF_MEMORY, CupyAllocator, context, current


class ReturnsText(CupyAllocator):
    """Returns the address as text."""

    def malloc(self, size: int, device: int) -> Any:
        return hex(super().malloc(size, device))


class AlwaysDevice0(CupyAllocator):
    """Takes memory on device 0 for every device."""

    def malloc(self, size: int, device: int) -> int:
        return super().malloc(size, 0)

    def free(self, address: int, device: int) -> None:
        super().free(address, 0)


class LeavesDevice0Current(CupyAllocator):
    """Leaves device 0 current, whichever was."""

    def malloc(self, size: int, device: int) -> int:
        address = super().malloc(size, device)
        call("cuCtxSetCurrent", context(0))
        return address


class FreesTwice(CupyAllocator):
    """Gives a block back to the driver twice."""

    def free(self, address: int, device: int) -> None:
        super().free(address, device)
        with current(device):
            try:
                call("cuMemFree_v2", ctypes.c_uint64(address))
            except RuntimeError:
                return


class OneBlockForAll(CupyAllocator):
    """Gives a block of 4096 bytes to all small requests."""

    _shared = 0

    def malloc(self, size: int, device: int) -> int:
        if size > 4096:
            return super().malloc(size, device)
        self._shared = self._shared or super().malloc(4096, device)
        return self._shared

    def free(self, address: int, device: int) -> None:
        if address != self._shared:
            super().free(address, device)


class NeverFrees(CupyAllocator):
    """Forgets what it is given back."""

    def free(self, address: int, device: int) -> None:
        """Does nothing."""


class AnswersMinusOne(CupyAllocator):
    """Returns -1 where there is no memory."""

    def malloc(self, size: int, device: int) -> int:
        try:
            return super().malloc(size, device)
        except RuntimeError:
            return -1


class EndsProcess(CupyAllocator):
    """Ends the process where there is no memory."""

    def malloc(self, size: int, device: int) -> int:
        try:
            return super().malloc(size, device)
        except RuntimeError:
            os._exit(0)


class Exits(CupyAllocator):
    """Raises SystemExit where there is no memory."""

    def malloc(self, size: int, device: int) -> int:
        try:
            return super().malloc(size, device)
        except RuntimeError:
            raise SystemExit(0) from None


class ReturnsMadeUpAddress(CupyAllocator):
    """Returns an address where there is no memory."""

    def malloc(self, size: int, device: int) -> int:
        try:
            return super().malloc(size, device)
        except RuntimeError:
            return 1 << 40


class IgnoresOtherErrors(CupyAllocator):
    """Returns an address where the driver fails, unless it has no memory."""

    def malloc(self, size: int, device: int) -> int:
        try:
            return super().malloc(size, device)
        except CallError as error:
            if error.code == OUT_OF_MEMORY:
                raise
            return 1 << 40


class GivesUp(CupyAllocator):
    """Serves no request any more once the driver failed, unless it had no memory."""

    _failed = False

    def malloc(self, size: int, device: int) -> int:
        if self._failed:
            return 0
        try:
            return super().malloc(size, device)
        except CallError as error:
            self._failed = error.code != OUT_OF_MEMORY
            raise
