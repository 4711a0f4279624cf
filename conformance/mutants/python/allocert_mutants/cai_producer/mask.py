"""Producers whose mask is wrong."""

import types
from typing import Any

from .conforming_producer import Array, Entry, HostArray, Producer, adapter
from .views import ViewArray


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


@adapter
class MaskOnce(Array):
    """Reports the mask in the first reading alone."""

    readings = 0

    def interface(self) -> Any:
        self.readings += 1
        entries = super().interface()
        if self.readings > 1:
            entries.pop("mask", None)
        return entries


class MaskInDeviceMemoryOnly(Producer):
    """Leaves the mask of an array in other memory than that of the device out."""

    def array(self, spec: Any) -> Array:
        if spec.memory != "device":
            spec.mask = None
        return super().array(spec)


class MaskIgnoresDirection(Producer):
    """Reverses the data and not the mask."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        made = super().view(array, way, value)
        if way == "slice" and made.mask is not None:
            forwards = tuple(_forwards(axis) for axis in value)
            made.mask = super().view(array, way, forwards).mask
        return made


def _forwards(axis: Any) -> Any:
    return slice(None) if isinstance(axis, slice) and axis.step == -1 else axis


class MaskIgnoresSteps(Producer):
    """Takes as many elements of the mask as the view has, from the first on."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        made = super().view(array, way, value)
        if way == "slice" and array.mask is not None and any(map(_has_gaps, value)):
            size = made.host_array.shape[0]
            made.mask = self.new_view(array.mask, array.mask.host_array[:size])
        return made


def _has_gaps(axis: Any) -> bool:
    return isinstance(axis, slice) and axis.step not in (None, 1, -1)


class ViewsOfViewsLackMask(Producer):
    """Keeps the mask in the views of arrays alone."""

    array_class: type[Array] = ViewArray

    def view(self, array: Any, way: str, value: Any) -> Any:
        made: Any = super().view(array, way, value)
        made.is_view, made.mask = True, None if array.is_view else made.mask
        return made


class ReinterpretedViewsLackMask(Producer):
    """Leaves the mask out of views of another type or byte order."""

    ways: tuple[str, ...] = ("dtype", "byteswapped")

    def view(self, array: Array, way: str, value: Any) -> Array:
        made = super().view(array, way, value)
        made.mask = None if way in self.ways else made.mask
        return made


class BroadcastViewsLackMask(ReinterpretedViewsLackMask):
    """Leaves the mask out of broadcast views."""

    ways = ("broadcast_to",)


class NewAxesLackMask(Producer):
    """Leaves the mask out of views with a new axis."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        made = super().view(array, way, value)
        if way == "slice" and None in value:
            made.mask = None
        return made


class ColumnsHaveMaskOfRow(Producer):
    """Reports the mask of a whole row for a view that an index makes."""

    def view(self, array: Array, way: str, value: Any) -> Array:
        made = super().view(array, way, value)
        if way == "slice" and any(isinstance(axis, int) for axis in value):
            made.mask = array.mask
        return made
