"""Producers whose pointer or strides do not lead to the elements."""

import ctypes
from typing import Any

from numpy.lib.array_utils import byte_bounds

from allocert_mutants.cuda_driver import call

from .conforming_producer import Array, Entry, HostArray, Producer, adapter


@adapter
class HostAddress(Array):
    """Reports a host address that no device can access."""

    def address(self) -> int:
        return int(self.host_array.__array_interface__["data"][0])


@adapter
class ZeroSizeHasAddress(Array):
    """Reports an address for an array of no elements."""

    def pointer(self) -> int:
        return self.address()


@adapter
class ZeroSizeByFirstExtent(Array):
    """Looks only at the first extent to decide whether an array has no elements."""

    def pointer(self) -> int:
        return 0 if self.host_array.shape[:1] == (0,) else self.address()


@adapter
class ScalarNullPointer(Array):
    """Reports address 0 for an array of no dimensions."""

    def pointer(self) -> int:
        return super().pointer() if self.host_array.shape else 0


@adapter
class LowestAddress(Array):
    """Reports the lowest address, even where strides are negative."""

    def address(self) -> int:
        return self.memory.base + byte_bounds(self.host_array)[0] - self.host_address


@adapter
class ViewsAtOwnersAddress(Array):
    """Reports the start of the memory as the address of each view."""

    def address(self) -> int:
        return self.memory.base


@adapter
class StrideZeroIsContiguous(Array):
    """Reports arrays with a stride of 0 as contiguous."""

    def strides(self) -> Entry:
        return None if 0 in self.host_array.strides else super().strides()


@adapter
class StridesMissing(Array):
    """Never reports strides."""

    def strides(self) -> Entry:
        return None


@adapter
class StridesIsList(Array):
    """Reports strides as a list."""

    def strides(self) -> Entry:
        strides = super().strides()
        return strides and list(strides)


@adapter
class StridesLackDimension(Array):
    """Leaves out the stride of the last dimension."""

    def strides(self) -> Entry:
        strides = super().strides()
        return strides and strides[:-1]


@adapter
class StridesCountElements(Array):
    """Reports strides in elements instead of bytes."""

    def strides(self) -> Entry:
        strides = super().strides()
        return strides and tuple(stride // self.host_array.itemsize for stride in strides)


class UploadsFirstPage(Producer):
    """Copies the first 4096 bytes of an array to the device, and zeros behind them."""

    def copy_to_device(
        self, host_array: HostArray, memory_kind: str = "device", *more: Any
    ) -> Array:
        array = super().copy_to_device(host_array, memory_kind, *more)
        if host_array.nbytes > 4096:
            rest = ctypes.c_uint64(array.memory.base + 4096)
            size = ctypes.c_size_t(host_array.nbytes - 4096)
            call("cuMemsetD8_v2", rest, ctypes.c_ubyte(0), size)
        return array


@adapter
class ElementIsContiguous(Array):
    """Leaves the strides out if each of them is 0."""

    def strides(self) -> Entry:
        return super().strides() if any(self.host_array.strides) else None
