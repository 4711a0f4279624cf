"""Producers whose dictionary or one of its entries is wrong."""

import types
from typing import Any, NoReturn

import numpy

from .conforming_producer import Array, Entry, Producer, adapter


@adapter
class MappingProxy(Array):
    """Returns a mapping that is not a dict."""

    def interface(self) -> Any:
        return types.MappingProxyType(super().interface())


@adapter
class AttributeRaises(Array):
    """Raises when the attribute is read."""

    def interface(self) -> NoReturn:
        raise RuntimeError("arrays of this library cannot be exported")


@adapter
class ViewsLackTypestr(Array):
    """Leaves typestr out of the dictionary of a view."""

    def interface(self) -> Any:
        entries = super().interface()
        if self.host_array.nbytes != self.memory.size_bytes:
            del entries["typestr"]
        return entries


@adapter
class SameDictionary(Array):
    """Returns one and the same dictionary at every reading."""

    def interface(self) -> Any:
        if not hasattr(self, "entries"):
            self.entries = super().interface()
        return self.entries


@adapter
class PointerGrows(Array):
    """Reports an address one byte further at each reading."""

    reads = -1

    def address(self) -> int:
        self.reads += 1
        return super().address() + self.reads


class DictOfOwnClass(dict[str, Entry]):
    """A subclass of dict."""


@adapter
class DictSubclass(Array):
    """Returns a dictionary of a subclass of dict."""

    def interface(self) -> Any:
        return DictOfOwnClass(super().interface())


class HostObjectsHaveAttribute(Producer):
    """Gives host objects the attribute, which raises when it is read."""

    def plain_object(self, kind: str) -> Any:
        return _HostObject()


class _HostObject:
    @property
    def __cuda_array_interface__(self) -> NoReturn:
        raise KeyError("device")


@adapter
class ExtentIsBool(Array):
    """Reports True for an extent of 1."""

    def shape(self) -> Entry:
        return tuple(True if extent == 1 else extent for extent in super().shape())


@adapter
class ShapeIsList(Array):
    """Reports the shape as a list."""

    def shape(self) -> Entry:
        return list(super().shape())


@adapter
class ShapeNumpyIntegers(Array):
    """Reports extents as NumPy integers."""

    def shape(self) -> Entry:
        return tuple(numpy.int64(extent) for extent in super().shape())


@adapter
class ShapeNegative(Array):
    """Reports -1 for an extent of 1."""

    def shape(self) -> Entry:
        return tuple(-1 if extent == 1 else extent for extent in super().shape())


@adapter
class ScalarIsVector(Array):
    """Reports one dimension for an array of no dimensions."""

    def shape(self) -> Entry:
        return super().shape() or (1,)


@adapter
class ShapeOfOwner(Array):
    """Reports as many elements for a view of one dimension as its memory has."""

    def shape(self) -> Entry:
        shape = super().shape()
        if len(shape) == 1 and self.host_array.size:
            return (self.memory.size_bytes // self.host_array.itemsize,)
        return shape


@adapter
class TypestrIsDtype(Array):
    """Reports a dtype as typestr."""

    def typestr(self) -> Entry:
        return self.host_array.dtype


@adapter
class TypestrIsName(Array):
    """Reports the name of the dtype as typestr."""

    def typestr(self) -> Entry:
        return self.host_array.dtype.name


@adapter
class TypestrCountsBits(Array):
    """Reports the element size in bits in typestr."""

    def typestr(self) -> Entry:
        return super().typestr()[:2] + str(8 * self.host_array.itemsize)


@adapter
class TypestrWithoutByteOrder(Array):
    """Leaves the byte order out of typestr."""

    def typestr(self) -> Entry:
        return "|" + super().typestr()[1:]


@adapter
class TypestrWithoutUnit(Array):
    """Leaves the unit of dates out of typestr."""

    def typestr(self) -> Entry:
        return super().typestr().split("[")[0]


@adapter
class TypestrNativeOrder(Array):
    """Reports the byte order of this machine for every array."""

    def typestr(self) -> Entry:
        return super().typestr().replace(">", "<")


@adapter
class TypestrHasOneCharacter(Array):
    """Reports text of no characters as text of one, as copies of NumPy do."""

    def typestr(self) -> Entry:
        typestr = super().typestr()
        return typestr[:2] + "1" if typestr in ("|S0", "<U0") else typestr


@adapter
class DataIsList(Array):
    """Reports data as a list."""

    def data(self) -> Entry:
        return list(super().data())


@adapter
class PointerIsString(Array):
    """Reports the pointer as a hexadecimal string."""

    def data(self) -> Entry:
        return hex(self.pointer()), self.read_only


@adapter
class ReadOnlyIsInteger(Array):
    """Reports the read-only flag as 0 or 1."""

    def data(self) -> Entry:
        return self.pointer(), int(self.read_only)


@adapter
class AlwaysWritable(Array):
    """Reports read-only arrays as writable."""

    def data(self) -> Entry:
        return self.pointer(), False


@adapter
class VersionIsString(Array):
    """Reports the version as a string."""

    def version(self) -> Entry:
        return "3"


@adapter
class Version4(Array):
    """Reports version 4, which does not exist."""

    def version(self) -> Entry:
        return 4


@adapter
class DescrIsTuple(Array):
    """Reports descr as a tuple."""

    def descr(self) -> Entry:
        return tuple(super().descr())


@adapter
class DescrLacksField(Array):
    """Leaves the last field out of descr."""

    def descr(self) -> Entry:
        return super().descr()[:-1]


@adapter
class DescrReversed(Array):
    """Reports the fields in descr in reverse order."""

    def descr(self) -> Entry:
        return super().descr()[::-1]


@adapter
class DescrMissing(Array):
    """Leaves descr out of the dictionary of a structured array."""

    def interface(self) -> Any:
        entries = super().interface()
        entries.pop("descr", None)
        return entries


@adapter
class ShapeChangesOnReading(Array):
    """Reports another shape at each reading after the first."""

    reads = 0

    def shape(self) -> Entry:
        self.reads += 1
        shape = super().shape()
        return shape if self.reads == 1 else tuple(max(extent - 1, 1) for extent in shape)


@adapter
class SixtyFiveAxes(Array):
    """Reports 65 dimensions for an array of no dimensions."""

    def shape(self) -> Entry:
        return super().shape() or (1,) * 65


@adapter
class TypestrIsObject(Array):
    """Reports integers of eight bytes as Python objects."""

    def typestr(self) -> Entry:
        return "|O8" if super().typestr() == "<i8" else super().typestr()


@adapter
class ExportsTextAsRawBytes(Array):
    """Reports text as raw bytes of the same size."""

    def typestr(self) -> Entry:
        dtype = self.host_array.dtype
        return f"|V{dtype.itemsize}" if dtype.kind in "SU" else super().typestr()


@adapter
class ReadOnlyOnce(Array):
    """Reports an array as read-only in the first reading alone."""

    readings = 0

    def data(self) -> Entry:
        self.readings += 1
        return self.pointer(), self.read_only and self.readings == 1


@adapter
class ScalarsAreWritable(Array):
    """Reports read-only arrays without axes as writable."""

    def data(self) -> Entry:
        return self.pointer(), self.read_only and self.host_array.ndim > 0


@adapter
class MaskedArraysAreWritable(Array):
    """Reports read-only arrays with a mask as writable."""

    def data(self) -> Entry:
        return self.pointer(), self.read_only and self.mask is None


class OtherMemoryIsWritable(Producer):
    """Makes writable arrays in any memory but that of the device."""

    def array(self, spec: Any) -> Array:
        spec.read_only = spec.read_only and spec.memory == "device"
        return super().array(spec)


@adapter
class TypestrOfEmptyIsFloat(Array):
    """Reports float64 for an array without elements."""

    def typestr(self) -> Entry:
        return super().typestr() if self.host_array.size else "<f8"


@adapter
class TypestrOrderOfNumbersOnly(Array):
    """Keeps the byte order of plain numbers alone."""

    def typestr(self) -> Entry:
        typestr: str = super().typestr()
        return typestr if self.host_array.dtype.kind in "iuf" else typestr.replace(">", "<")


@adapter
class TypestrOrderNotOfScalars(Array):
    """Keeps the byte order of arrays with axes alone."""

    def typestr(self) -> Entry:
        typestr: str = super().typestr()
        return typestr if self.host_array.ndim else typestr.replace(">", "<")


@adapter
class DescrNotInViews(Array):
    """Leaves descr out of the dictionary of a view."""

    def interface(self) -> Any:
        entries = super().interface()
        if self.host_array.nbytes != self.memory.size_bytes:
            entries.pop("descr", None)
        return entries


@adapter
class DescrNativeOrder(Array):
    """Reports fields with the byte order of this machine."""

    def descr(self) -> Entry:
        fields: list[Any] = super().descr()
        return [(name, typestr.replace(">", "<"), *shape) for name, typestr, *shape in fields]
