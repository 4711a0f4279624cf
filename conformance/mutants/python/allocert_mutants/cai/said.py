"""Libraries whose dictionary says a thing wrongly."""

import types

import numpy

from .producer import Array, Producer, library


@library
class Proxy(Array):
    """The attribute is a mapping that is no dict."""

    def interface(self):
        return types.MappingProxyType(super().interface())


@library
class Raises(Array):
    """Reading the attribute raises."""

    def interface(self):
        raise RuntimeError("arrays of this library cannot be exported")


@library
class NoTypestr(Array):
    """Views lack an entry."""

    def interface(self):
        entries = super().interface()
        if self.shadow.nbytes != self.memory.size_bytes:
            del entries["typestr"]
        return entries


@library
class Kept(Array):
    """Every reading hands out one and the same dictionary."""

    def interface(self):
        if not hasattr(self, "entries"):
            self.entries = super().interface()
        return self.entries


@library
class Grows(Array):
    """Each reading says one byte more of where the data begins."""

    reads = -1

    def address(self):
        self.reads += 1
        return super().address() + self.reads


class Tabled(dict):
    """A dictionary of a class of its own."""


@library
class Subclass(Array):
    """The dictionary is of a class of its own."""

    def interface(self):
        return Tabled(super().interface())


class HostObjects(Producer):
    """Host objects have the attribute, and it raises."""

    def plain_object(self, kind):
        return _Hosted()


class _Hosted:
    @property
    def __cuda_array_interface__(self):
        raise KeyError("device")


@library
class ExtentTrue(Array):
    """An extent of 1 is True."""

    def shape(self):
        return tuple(True if extent == 1 else extent for extent in super().shape())


@library
class ShapeList(Array):
    def shape(self):
        return list(super().shape())


@library
class ShapeNumbers(Array):
    """Extents are integers of NumPy."""

    def shape(self):
        return tuple(numpy.int64(extent) for extent in super().shape())


@library
class ShapeNegative(Array):
    """An array of one element has -1 of them."""

    def shape(self):
        return tuple(-1 if extent == 1 else extent for extent in super().shape())


@library
class ScalarVector(Array):
    """An array of no dimensions is exported as one of one."""

    def shape(self):
        return super().shape() or (1,)


@library
class ShapeOfOwner(Array):
    """A view in one dimension has as many elements as its memory."""

    def shape(self):
        shape = super().shape()
        return (
            (self.memory.size_bytes // self.shadow.itemsize,)
            if len(shape) == 1 and self.shadow.size
            else shape
        )


@library
class TypeObject(Array):
    """typestr is a dtype."""

    def typestr(self):
        return self.shadow.dtype


@library
class TypeName(Array):
    """typestr is a name."""

    def typestr(self):
        return self.shadow.dtype.name


@library
class TypeBits(Array):
    """The number in typestr counts bits."""

    def typestr(self):
        return super().typestr()[:2] + str(8 * self.shadow.itemsize)


@library
class NoOrder(Array):
    """No type says its byte order."""

    def typestr(self):
        return "|" + super().typestr()[1:]


@library
class NoUnit(Array):
    """Dates lose their unit."""

    def typestr(self):
        return super().typestr().split("[")[0]


@library
class OwnOrder(Array):
    """Every array is in the byte order of this machine."""

    def typestr(self):
        return super().typestr().replace(">", "<")


@library
class DataList(Array):
    def data(self):
        return list(super().data())


@library
class PointerText(Array):
    """The pointer is in hexadecimal."""

    def data(self):
        return hex(self.pointer()), self.read_only


@library
class FlagNumber(Array):
    """The read-only flag is 0 or 1."""

    def data(self):
        return self.pointer(), int(self.read_only)


@library
class AlwaysWritable(Array):
    """Nothing is read-only."""

    def data(self):
        return self.pointer(), False


@library
class VersionText(Array):
    def version(self):
        return "3"


@library
class VersionNext(Array):
    """A version that does not exist."""

    def version(self):
        return 4


@library
class VersionMasked(Array):
    """A mask in version 0."""

    def interface(self):
        entries = super().interface()
        if "mask" in entries:
            del entries["stream"]
            entries["version"] = 0
        return entries


@library
class DescrTuple(Array):
    """descr is a tuple."""

    def descr(self):
        return tuple(super().descr())


@library
class DescrShort(Array):
    """descr lacks the last field."""

    def descr(self):
        return super().descr()[:-1]


@library
class DescrReversed(Array):
    """descr has the last field first."""

    def descr(self):
        return super().descr()[::-1]


@library
class NoDescr(Array):
    """A structure is so many bytes."""

    def interface(self):
        entries = super().interface()
        entries.pop("descr", None)
        return entries


@library
class MaskDict(Array):
    """The mask is a dictionary itself."""

    def masked(self):
        return self.mask.interface()


@library
class MaskPadded(Array):
    """The mask is as long as its memory, which is padded."""

    def masked(self):
        return types.SimpleNamespace(
            __cuda_array_interface__={**self.mask.interface(), "shape": (64,)}
        )


@library
class MaskBroken(Array):
    """The shape of the mask is a list."""

    def masked(self):
        entries = self.mask.interface()
        return types.SimpleNamespace(
            __cuda_array_interface__={**entries, "shape": list(entries["shape"])}
        )


class MaskLeft(Producer):
    """Views have no mask."""

    def seen(self, array, shadow, mask=None):
        return super().seen(array, shadow)


class MaskWhole(Producer):
    """Views have the whole mask."""

    def seen(self, array, shadow, mask=None):
        return super().seen(array, shadow, array.mask)


class MaskInverted(Producer):
    """True in the mask means hidden, as in numpy.ma."""

    def array(self, spec):
        if spec.mask is not None:
            spec.mask = self.placed(~spec.mask.shadow)
        return super().array(spec)
