"""Producers whose dictionary or one of its entries is wrong."""

import types
from typing import Any, NoReturn

import numpy

from .conforming_producer import Array, Entry, Producer, producer_of


@producer_of
class MappingProxy(Array):
    """Returns a mapping that is not a dict."""

    def interface(self) -> Any:
        return types.MappingProxyType(super().interface())


@producer_of
class AttributeRaises(Array):
    """Raises when the attribute is read."""

    def interface(self) -> NoReturn:
        raise RuntimeError("arrays of this library cannot be exported")


@producer_of
class ViewsLackTypestr(Array):
    """Leaves typestr out of the dictionary of a view."""

    def interface(self) -> Any:
        entries = super().interface()
        if self.host_array.nbytes != self.memory.size_bytes:
            del entries["typestr"]
        return entries


@producer_of
class SameDictionary(Array):
    """Returns one and the same dictionary at every reading."""

    def interface(self) -> Any:
        if not hasattr(self, "entries"):
            self.entries = super().interface()
        return self.entries


@producer_of
class PointerGrows(Array):
    """Reports an address one byte further at each reading."""

    reads = -1

    def address(self) -> int:
        self.reads += 1
        return super().address() + self.reads


class DictOfOwnClass(dict[str, Entry]):
    """A subclass of dict."""


@producer_of
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


@producer_of
class ExtentIsBool(Array):
    """Reports True for an extent of 1."""

    def shape(self) -> Entry:
        return tuple(True if extent == 1 else extent for extent in super().shape())


@producer_of
class ShapeIsList(Array):
    """Reports the shape as a list."""

    def shape(self) -> Entry:
        return list(super().shape())


@producer_of
class ShapeNumpyIntegers(Array):
    """Reports extents as NumPy integers."""

    def shape(self) -> Entry:
        return tuple(numpy.int64(extent) for extent in super().shape())


@producer_of
class ShapeNegative(Array):
    """Reports -1 for an extent of 1."""

    def shape(self) -> Entry:
        return tuple(-1 if extent == 1 else extent for extent in super().shape())


@producer_of
class ScalarIsVector(Array):
    """Reports one dimension for an array of no dimensions."""

    def shape(self) -> Entry:
        return super().shape() or (1,)


@producer_of
class ShapeOfOwner(Array):
    """Reports as many elements for a view of one dimension as its memory has."""

    def shape(self) -> Entry:
        shape = super().shape()
        if len(shape) == 1 and self.host_array.size:
            return (self.memory.size_bytes // self.host_array.itemsize,)
        return shape


@producer_of
class TypestrIsDtype(Array):
    """Reports a dtype as typestr."""

    def typestr(self) -> Entry:
        return self.host_array.dtype


@producer_of
class TypestrIsName(Array):
    """Reports the name of the dtype as typestr."""

    def typestr(self) -> Entry:
        return self.host_array.dtype.name


@producer_of
class TypestrCountsBits(Array):
    """Reports the element size in bits in typestr."""

    def typestr(self) -> Entry:
        return super().typestr()[:2] + str(8 * self.host_array.itemsize)


@producer_of
class TypestrWithoutByteOrder(Array):
    """Leaves the byte order out of typestr."""

    def typestr(self) -> Entry:
        return "|" + super().typestr()[1:]


@producer_of
class TypestrWithoutUnit(Array):
    """Leaves the unit of dates out of typestr."""

    def typestr(self) -> Entry:
        return super().typestr().split("[")[0]


@producer_of
class TypestrNativeOrder(Array):
    """Reports the byte order of this machine for every array."""

    def typestr(self) -> Entry:
        return super().typestr().replace(">", "<")


@producer_of
class DataIsList(Array):
    """Reports data as a list."""

    def data(self) -> Entry:
        return list(super().data())


@producer_of
class PointerIsString(Array):
    """Reports the pointer as a hexadecimal string."""

    def data(self) -> Entry:
        return hex(self.pointer()), self.read_only


@producer_of
class ReadOnlyIsInteger(Array):
    """Reports the read-only flag as 0 or 1."""

    def data(self) -> Entry:
        return self.pointer(), int(self.read_only)


@producer_of
class AlwaysWritable(Array):
    """Reports read-only arrays as writable."""

    def data(self) -> Entry:
        return self.pointer(), False


@producer_of
class VersionIsString(Array):
    """Reports the version as a string."""

    def version(self) -> Entry:
        return "3"


@producer_of
class Version4(Array):
    """Reports version 4, which does not exist."""

    def version(self) -> Entry:
        return 4


@producer_of
class DescrIsTuple(Array):
    """Reports descr as a tuple."""

    def descr(self) -> Entry:
        return tuple(super().descr())


@producer_of
class DescrLacksField(Array):
    """Leaves the last field out of descr."""

    def descr(self) -> Entry:
        return super().descr()[:-1]


@producer_of
class DescrReversed(Array):
    """Reports the fields in descr in reverse order."""

    def descr(self) -> Entry:
        return super().descr()[::-1]


@producer_of
class DescrMissing(Array):
    """Leaves descr out of the dictionary of a structured array."""

    def interface(self) -> Any:
        entries = super().interface()
        entries.pop("descr", None)
        return entries
