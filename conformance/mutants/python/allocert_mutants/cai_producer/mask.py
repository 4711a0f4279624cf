"""Producers whose mask is wrong."""

import types
from typing import Any

from .conforming_producer import Array, Entry, HostArray, Producer, adapter


@adapter
class MaskInVersion0(Array):
    """Reports a mask in version 0."""

    def interface(self) -> Any:
        entries = super().interface()
        if "mask" in entries:
            del entries["stream"]
            entries["version"] = 0
        return entries


def _exporter(entries: dict[str, Entry]) -> types.SimpleNamespace:
    return types.SimpleNamespace(__cuda_array_interface__=entries)


@adapter
class MaskIsDict(Array):
    """Reports the mask as a dictionary."""

    def mask_entry(self, mask: Array) -> Entry:
        return mask.interface()


@adapter
class MaskPadded(Array):
    """Reports the padded length of the mask's memory as its shape."""

    def mask_entry(self, mask: Array) -> Entry:
        return _exporter({**mask.interface(), "shape": (64,)})


@adapter
class MaskShapeIsList(Array):
    """Reports the shape of the mask as a list."""

    def mask_entry(self, mask: Array) -> Entry:
        entries = mask.interface()
        return _exporter({**entries, "shape": list(entries["shape"])})


class LosesMask(Producer):
    """Exports masked arrays as arrays in which every element is valid."""

    def array(self, spec: Any) -> Array:
        spec.mask = None
        return super().array(spec)


class MaskInverted(Producer):
    """Marks invalid elements as true in the mask, as numpy.ma does."""

    def array(self, spec: Any) -> Array:
        if spec.mask is not None:
            spec.mask = self.copy_to_device(~spec.mask.host_array)
        return super().array(spec)


class ViewsLackMask(Producer):
    """Leaves the mask out of the dictionary of a view."""

    def new_view(self, array: Array, host_array: HostArray, mask: Array | None = None) -> Array:
        return super().new_view(array, host_array)


class ViewsHaveWholeMask(Producer):
    """Reports the whole array's mask for a view."""

    def new_view(self, array: Array, host_array: HostArray, mask: Array | None = None) -> Array:
        return super().new_view(array, host_array, array.mask)
