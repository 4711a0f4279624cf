"""The CUDA Array Interface, versions 0 to 3: an array that exports it, an importer, a validator.

:func:`validate` needs no driver and no GPU. :class:`Array` and :func:`from_interface` use the
``libcuda`` that the process finds.

A stream is given as an object with ``__cuda_stream__``, as a :class:`Stream`, or as the integer of
the interface: 1 is the legacy default stream, 2 the calling thread's, any other the value of a
``cudaStream_t`` that lives long enough.
"""

import json
import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

from . import _allocert
from ._allocert import InterfaceError, Stream
from .worker.cai_shared import describe

__all__ = ["Array", "Defect", "Imported", "InterfaceError", "Stream", "from_interface", "validate"]

#: The default streams.
LEGACY, PER_THREAD = 1, 2

#: A :class:`Stream`, an object with ``__cuda_stream__``, or the integer of the interface.
StreamLike: TypeAlias = Any
Index: TypeAlias = SupportsIndex | slice | EllipsisType

#: The arguments of a native export: version, explicit_strides, without_stream, descr as JSON.
_ExportArguments: TypeAlias = tuple[int, bool, bool, str | None]


class Defect(NamedTuple):
    """One broken rule: its name, where (``shape[1]``, ``mask.typestr``), and a sentence."""

    kind: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


def validate(value: object, *, lenient: bool = False) -> list[Defect]:
    """Everything that is wrong with the interface of an object; empty for a valid one.

    It reads the attribute once, and that of a mask too. It raises nothing: an exception of the
    object is a defect. ``lenient`` takes the object as :func:`from_interface` does: every version
    may have a stream, and a subclass of dict is a dict.
    """
    described = json.dumps(describe.exported(value))
    return [Defect(*found) for found in _allocert.defects(described, lenient)]


class Array:
    """An array in device memory that exports the interface.

    Methods put work into streams and do not wait for it, unless they say so; the exported
    ``stream`` follows all of it.
    """

    _array: _allocert.DeviceArray
    _export_arguments: _ExportArguments

    def __init__(
        self,
        shape: int | Sequence[SupportsIndex],
        typestr: str = "<f4",
        *,
        order: str = "C",
        version: int = 3,
        stream: StreamLike | None = None,
        mask: "Array | None" = None,
        read_only: bool = False,
        descr: Sequence[Any] | None = None,
        explicit_strides: bool = False,
        without_stream: bool = False,
        device: int = 0,
    ) -> None:
        """A new array, uninitialised.

        It lies in the current CUDA context, or in the primary one of ``device`` if none is
        current. ``order`` is ``C`` or ``F``. The array exports ``stream`` while there is work to
        wait for, and never one with ``without_stream``: then the user orders all work. ``descr``
        are the fields of a structure.

        Raises ValueError for what the interface cannot describe, and DriverError.
        """
        if order not in ("C", "F"):
            raise ValueError(f"no order {order!r}: 'C' or 'F'")
        extents = (
            [shape] if isinstance(shape, int) else [operator.index(extent) for extent in shape]
        )
        if any(not 0 <= extent < 1 << 63 for extent in extents):
            raise ValueError(f"no shape {tuple(extents)}: an extent is from 0 to 2**63 - 1")
        array = _allocert.DeviceArray(extents, typestr, order == "F", device)
        array = array if stream is None else array.on(_stream(stream))
        array = array if mask is None else array.masked(mask._array)
        self._array = array.as_read_only() if read_only else array
        fields = None if descr is None else json.dumps(describe.plain(descr))
        self._export_arguments = (version, explicit_strides, without_stream, fields)
        # What cannot be exported is an error here, and not for the reader of the attribute.
        self._array.export(*self._export_arguments)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        interface = self._array.export(*self._export_arguments)
        if "mask" in interface:
            interface["mask"] = self.mask
        return interface

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return tuple(self._array.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from an element to the next along each axis."""
        return tuple(self._array.strides)

    @property
    def typestr(self) -> str:
        """The type of the elements, as NumPy writes it."""
        return self._array.typestr

    @property
    def read_only(self) -> bool:
        """Whether nobody may write the data through this array."""
        return self._array.read_only

    @property
    def mask(self) -> "Array | None":
        """The mask: its true elements mark the valid elements. None: all are valid."""
        mask = self._array.mask()
        return None if mask is None else _array(mask, (*self._export_arguments[:3], None))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._array.shape)

    def __len__(self) -> int:
        if not self._array.shape:
            raise TypeError("an array without axes has no length")
        return self._array.shape[0]

    def __getitem__(self, key: Index | tuple[Index, ...]) -> "Array":
        """A view: integers, slices and one ellipsis, as in NumPy."""
        array, axis = self._array, 0
        for part in _index_of_each_axis(key, self.ndim):
            extent = array.shape[axis]
            if isinstance(part, slice):
                first, stop, step = part.indices(extent)
                count = len(range(first, stop, step))
                array = array.take(axis, first if count else 0, count, step)
                axis += 1
            else:
                index = operator.index(part)
                if not -extent <= index < extent:
                    raise IndexError(f"index {index} is not in axis {axis} of {extent}")
                array = array.at(axis, index % extent)
        return self._view(array)

    def transpose(self, *axes: int) -> "Array":
        """A view with the axes in this order; without arguments, reversed."""
        order = [axis % max(self.ndim, 1) for axis in axes] or list(reversed(range(self.ndim)))
        return self._view(self._array.transpose(order))

    @property
    def T(self) -> "Array":  # noqa: N802 - NumPy's name
        """A view with the axes reversed."""
        return self.transpose()

    def broadcast_to(self, shape: Sequence[int]) -> "Array":
        """A view of another shape, as NumPy broadcasts, with strides of 0."""
        return self._view(self._array.broadcast(list(shape)))

    def as_read_only(self) -> "Array":
        """A view of the same data that nobody may write."""
        return self._view(self._array.as_read_only())

    def fill(self, value: int, stream: StreamLike = LEGACY) -> None:
        """Sets every byte, in order of the stream. Does not wait."""
        self._array.fill(value, _stream(stream))

    def copy_from(self, other: "Array", stream: StreamLike = LEGACY) -> None:
        """Copies the elements of an array of the same shape and type, in order of the stream.

        Does not wait.
        """
        self._array.copy_from(other._array, _stream(stream))

    def write(self, elements: bytes | bytearray | memoryview) -> None:
        """Sets the elements from bytes in C order. Waits."""
        self._array.write(bytes(elements))

    def read(self) -> bytes:
        """The elements as bytes in C order. Waits for all work on the array."""
        return self._array.read()

    def synchronize(self) -> None:
        """Waits for all work on the array and its views."""
        self._array.synchronize()

    def __repr__(self) -> str:
        return f"<allocert.cai.Array {self.shape} {self.typestr}>"

    def _view(self, array: _allocert.DeviceArray) -> "Array":
        return _array(array, self._export_arguments)


class Imported:
    """A view of an array of another library; made by :func:`from_interface`."""

    def __init__(self, imported: _allocert.Imported) -> None:
        self._imported = imported
        self._interface: dict[str, Any] = imported.interface()
        mask = imported.mask()
        self._mask = None if mask is None else Imported(mask)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The interface as it came, with its stream: work done here is in order with that."""
        interface = dict(self._imported.interface())
        if self._mask is not None:
            interface["mask"] = self._mask
        return interface

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """A copy on the host, for NumPy."""
        entries: dict[str, Any] = {
            key: self._interface[key]
            for key in ("shape", "typestr", "descr")
            if key in self._interface
        }
        if entries["typestr"][1] == "t":
            raise AttributeError("NumPy has no bit fields: see read()")
        return {**entries, "data": self.read(), "version": 3}

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        shape: tuple[int, ...] = self._interface["shape"]
        return shape

    @property
    def typestr(self) -> str:
        """The type of the elements, as NumPy writes it."""
        typestr: str = self._interface["typestr"]
        return typestr

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Bytes from an element to the next along each axis, as they came. None: C order."""
        return self._interface.get("strides")

    @property
    def descr(self) -> list[Any] | None:
        """The fields of a structure, as they came, or None."""
        return self._interface.get("descr")

    @property
    def version(self) -> int:
        """The version that the object claims."""
        version: int = self._interface["version"]
        return version

    @property
    def pointer(self) -> int:
        """The device address of the element with all indices 0."""
        pointer: int = self._interface["data"][0]
        return pointer

    @property
    def read_only(self) -> bool:
        """Whether nobody may write the data."""
        read_only: bool = self._interface["data"][1]
        return read_only

    @property
    def stream(self) -> int | None:
        """The integer that came with it, or None."""
        return self._interface.get("stream")

    @property
    def mask(self) -> "Imported | None":
        """The mask: its true elements mark the valid elements. None: all are valid."""
        return self._mask

    def read(self) -> bytes:
        """The elements as bytes in C order. Waits for them."""
        return self._imported.read()

    def write(self, elements: bytes | bytearray | memoryview) -> None:
        """Sets the elements from bytes in C order. Does not wait."""
        self._imported.write(bytes(elements))

    def fill(self, value: int) -> None:
        """Sets every byte. Does not wait."""
        self._imported.fill(value)

    def __repr__(self) -> str:
        return f"<allocert.cai.Imported {self.shape} {self.typestr}>"


def from_interface(
    value: object,
    *,
    retain: bool = True,
    order: str = "events",
    ignore_stream: bool = False,
    refuse_masks: bool = False,
) -> Imported:
    """A view of the array that an object exports; nothing is copied.

    With ``retain`` it keeps the object alive; without, the user does. ``order`` says how work here
    and the exported stream wait for each other: by ``events``, by the ``host``, or not at all,
    because all work is ``enqueue``\\ d there. ``ignore_stream`` takes every stream for None: the
    user orders the work.

    Raises :class:`InterfaceError` for an interface that is not valid; its second argument holds
    every defect.
    """
    kept: list[Any] = []
    described = json.dumps(describe.exported(value, kept))
    keep = (value, kept) if retain else None
    importer = _allocert.Importer(order, ignore_stream, refuse_masks)
    return Imported(importer.open(described, keep))


def _array(array: _allocert.DeviceArray, how: _ExportArguments) -> Array:
    made = object.__new__(Array)
    made._array, made._export_arguments = array, how
    return made


def _stream(value: StreamLike) -> Stream:
    if isinstance(value, Stream):
        return value
    if hasattr(value, "__cuda_stream__"):
        protocol = value.__cuda_stream__
        _version, handle = protocol() if callable(protocol) else protocol
        # Handle 0 of that protocol is the default stream of a program that uses the legacy one.
        return Stream(handle or LEGACY, value)
    if type(value) is bool or not 0 <= operator.index(value) < 1 << 64:
        raise ValueError(f"{value!r} is not a stream")
    return Stream(operator.index(value))


def _index_of_each_axis(key: Index | tuple[Index, ...], ndim: int) -> list[SupportsIndex | slice]:
    """The key without its ellipsis, as long as there are axes."""
    parts = list(key) if isinstance(key, tuple) else [key]
    ellipses = [place for place, part in enumerate(parts) if part is Ellipsis]
    given = len(parts) - len(ellipses)
    if len(ellipses) > 1 or given > ndim:
        raise IndexError(f"{len(parts)} indices for {ndim} axes")
    place = ellipses[0] if ellipses else len(parts)
    before, after = parts[:place], parts[place + len(ellipses) :]
    everything: list[Index] = [slice(None)] * (ndim - given)
    return [part for part in before + everything + after if not isinstance(part, EllipsisType)]
