"""The CUDA Array Interface, versions 0 to 3: an array that exports it, an importer, and what is wrong with anybody's.

:func:`validate` needs no driver and no GPU. :class:`Array` and :func:`from_interface` use whatever ``libcuda`` the process finds.

Streams are given as an object with ``__cuda_stream__``, as a :class:`Stream`, or as the integer of the interface: 1 is the
legacy default stream, 2 the calling thread's, any other the value of a ``cudaStream_t`` that lives long enough.
"""

import json
import operator
from typing import NamedTuple

from . import _allocert
from ._allocert import InterfaceError, Stream
from .worker.cai_shared import describe

__all__ = ["Array", "Defect", "Imported", "InterfaceError", "Stream", "from_interface", "validate"]

#: The default streams, for whom their numbers do not please.
LEGACY, PER_THREAD = 1, 2


class Defect(NamedTuple):
    """One broken rule: its name, where (``shape[1]``, ``mask.typestr``), and a sentence."""

    kind: str
    place: str
    message: str

    def __str__(self):
        return f"{self.place}: {self.message}" if self.place else self.message


def validate(value, *, lenient=False):
    """Everything that is wrong with the interface of an object: a list of :class:`Defect`, empty for a valid one.

    The attribute is read once, and so is that of a mask. What the object raises is a defect; nothing is raised here. With
    ``lenient``, as :func:`from_interface` takes it: a stream is known in every version, and a subclass of dict is a dict.
    """
    described = json.dumps(describe.exported(value))
    return [Defect(*found) for found in _allocert.defects(described, lenient)]


class Array:
    """An array in device memory that exports the interface.

    Work is put into streams and not waited for; the exported ``stream`` follows all of it. A new array is uninitialised. It lies
    on ``device`` where no CUDA context is current. ``stream`` is what to export if there is work to wait for; ``descr`` are the
    fields of a record. ``without_stream`` never names a stream: the user sees to the order of all work.
    """

    def __init__(
        self,
        shape,
        typestr="<f4",
        *,
        order="C",
        version=3,
        stream=None,
        mask=None,
        read_only=False,
        descr=None,
        explicit_strides=False,
        without_stream=False,
        device=0,
    ):
        if order not in ("C", "F"):
            raise ValueError(f"no order {order!r}: 'C' or 'F'")
        shape = [shape] if isinstance(shape, int) else [operator.index(extent) for extent in shape]
        if any(not 0 <= extent < 1 << 63 for extent in shape):
            raise ValueError(f"no shape {tuple(shape)}: an extent is from 0 to 2**63 - 1")
        array = _allocert.DeviceArray(shape, typestr, order == "F", device)
        array = array if stream is None else array.on(_stream(stream))
        array = array if mask is None else array.masked(mask._array)
        self._array = array.as_read_only() if read_only else array
        descr = None if descr is None else json.dumps(describe.plain(descr))
        self._how = (version, explicit_strides, without_stream, descr)
        # What cannot be exported is refused here and not to who reads the attribute.
        self._array.export(*self._how)

    @property
    def __cuda_array_interface__(self):
        interface = self._array.export(*self._how)
        if "mask" in interface:
            interface["mask"] = self.mask
        return interface

    @property
    def shape(self):
        return tuple(self._array.shape)

    @property
    def strides(self):
        """Bytes from an element to the next along each axis."""
        return tuple(self._array.strides)

    @property
    def typestr(self):
        return self._array.typestr

    @property
    def read_only(self):
        return self._array.read_only

    @property
    def mask(self):
        """An array whose true elements say which elements are valid, or None: all are."""
        mask = self._array.mask()
        return None if mask is None else _array(mask, (*self._how[:3], None))

    @property
    def ndim(self):
        return len(self._array.shape)

    def __len__(self):
        if not self._array.shape:
            raise TypeError("an array without axes has no length")
        return self._array.shape[0]

    def __getitem__(self, key):
        """A view: integers, slices and one ellipsis, as in NumPy."""
        array, axis = self._array, 0
        for part in _parts(key, self.ndim):
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
        return self._viewed(array)

    def transpose(self, *axes):
        axes = (
            [axis % max(self.ndim, 1) for axis in axes]
            if axes
            else list(reversed(range(self.ndim)))
        )
        return self._viewed(self._array.transpose(axes))

    @property
    def T(self):  # noqa: N802 - NumPy's name
        return self.transpose()

    def broadcast_to(self, shape):
        return self._viewed(self._array.broadcast(list(shape)))

    def as_read_only(self):
        """The same data, which nobody may write."""
        return self._viewed(self._array.as_read_only())

    def fill(self, value, stream=LEGACY):
        """Sets every byte, in order of the stream. Does not wait."""
        self._array.fill(value, _stream(stream))

    def copy_from(self, other, stream=LEGACY):
        """Copies the elements of an array of the same shape and type, in order of the stream. Does not wait."""
        self._array.copy_from(other._array, _stream(stream))

    def write(self, elements):
        """Sets the elements from bytes in C order. Waits."""
        self._array.write(bytes(elements))

    def read(self):
        """The elements as bytes in C order. Waits for all work on the array."""
        return self._array.read()

    def synchronize(self):
        """Waits for all work on the array and its views."""
        self._array.synchronize()

    def __repr__(self):
        return f"<allocert.cai.Array {self.shape} {self.typestr}>"

    def _viewed(self, array):
        return _array(array, self._how)


class Imported:
    """A view of somebody else's array; made by :func:`from_interface`."""

    def __init__(self, imported):
        self._imported = imported
        self._interface = imported.interface()
        mask = imported.mask()
        self._mask = None if mask is None else Imported(mask)

    @property
    def __cuda_array_interface__(self):
        """As it came, stream included: work done here is in order with that."""
        interface = dict(self._imported.interface())
        if self._mask is not None:
            interface["mask"] = self._mask
        return interface

    @property
    def __array_interface__(self):
        """A copy on the host, for NumPy."""
        entries = {
            key: self._interface[key]
            for key in ("shape", "typestr", "descr")
            if key in self._interface
        }
        if entries["typestr"][1] == "t":
            raise AttributeError("NumPy has no bit fields: see read()")
        return {**entries, "data": self.read(), "version": 3}

    @property
    def shape(self):
        return self._interface["shape"]

    @property
    def typestr(self):
        return self._interface["typestr"]

    @property
    def strides(self):
        """As they came: None for C order."""
        return self._interface.get("strides")

    @property
    def descr(self):
        return self._interface.get("descr")

    @property
    def version(self):
        return self._interface["version"]

    @property
    def pointer(self):
        return self._interface["data"][0]

    @property
    def read_only(self):
        return self._interface["data"][1]

    @property
    def stream(self):
        """The integer that came with it, or None."""
        return self._interface.get("stream")

    @property
    def mask(self):
        """An array whose true elements say which elements are valid, or None: all are."""
        return self._mask

    def read(self):
        """The elements as bytes in C order."""
        return self._imported.read()

    def write(self, elements):
        """Sets the elements from bytes in C order. Does not wait."""
        self._imported.write(bytes(elements))

    def fill(self, value):
        """Sets every byte. Does not wait."""
        self._imported.fill(value)

    def __repr__(self):
        return f"<allocert.cai.Imported {self.shape} {self.typestr}>"


def from_interface(value, *, retain=True, order="events", ignore_stream=False, refuse_masks=False):
    """A view of the array that an object exports; nothing is copied.

    It keeps the object alive, unless ``retain`` is off: then the user does. ``order`` says how work here and the exported stream
    wait for each other: by ``events``, by the ``host``, or not at all, because all work is ``enqueue``\\ d there.
    ``ignore_stream`` takes every stream for None: the user sees to the order. Raises :class:`InterfaceError`, whose second
    argument holds every defect, for what is not valid.
    """
    kept = []
    described = json.dumps(describe.exported(value, kept))
    keep = (value, kept) if retain else None
    importer = _allocert.Importer(order, ignore_stream, refuse_masks)
    return Imported(importer.open(described, keep))


def _array(array, how):
    made = object.__new__(Array)
    made._array, made._how = array, how
    return made


def _stream(value):
    if isinstance(value, Stream):
        return value
    if hasattr(value, "__cuda_stream__"):
        protocol = value.__cuda_stream__
        _version, handle = protocol() if callable(protocol) else protocol
        # Handle 0 of that protocol is the default stream of a program that uses the legacy one.
        return Stream(handle or LEGACY, value)
    if type(value) is bool or not 0 <= operator.index(value) < 1 << 64:
        raise ValueError(f"{value!r} is no stream")
    return Stream(operator.index(value))


def _parts(key, ndim):
    """An index for each axis."""
    parts = list(key) if isinstance(key, tuple) else [key]
    places = [place for place, part in enumerate(parts) if part is Ellipsis]
    given = len(parts) - len(places)
    if len(places) > 1 or given > ndim:
        raise IndexError(f"{len(parts)} indices for {ndim} axes")
    place = places[0] if places else len(parts)
    return parts[:place] + [slice(None)] * (ndim - given) + parts[place + len(places) :]
