"""Producers whose dictionaries hold other values than the reference's, with the same meaning."""

from typing import Any

import numpy
from allocert_mutants.cai_producer.conforming_producer import Array, Entry, Producer, adapter


class Size(tuple[int, ...]):
    """A tuple of extents with methods of its own, as some libraries have."""

    __slots__ = ()

    def numel(self) -> int:
        product = 1
        for extent in self:
            product *= extent
        return product


class Address(int):
    """An integer that prints as an address."""

    def __repr__(self) -> str:
        return hex(self)


@adapter
class Subclasses(Array):
    """Exports subclasses of tuple, int and str."""

    def shape(self) -> Entry:
        return Size(Address(extent) for extent in super().shape())

    def typestr(self) -> Entry:
        return numpy.str_(super().typestr())

    def data(self) -> Entry:
        pointer, read_only = super().data()
        return Size((Address(pointer), read_only))

    def version(self) -> Entry:
        return Address(super().version())

    def strides(self) -> Entry:
        strides = super().strides()
        return None if strides is None else Size(strides)

    def stream_entry(self) -> Entry:
        stream = super().stream_entry()
        return None if stream is None else Address(stream)


@adapter
class OwnKeys(Array):
    """Adds entries of its own to the dictionary."""

    def interface(self) -> Any:
        own = {f"own_{index}": index for index in range(70)}
        return {**super().interface(), "device": 0, "library": "variant", **own}


class _Key(str):
    """A key that is found by its text."""


@adapter
class SubclassKeys(Array):
    """Exports a dictionary whose keys are of a subclass of str."""

    def interface(self) -> Any:
        return {_Key(key): value for key, value in super().interface().items()}


@adapter
class CachedDictionary(Array):
    """Returns the same dictionary again until its values change."""

    cached: Any = None

    def interface(self) -> Any:
        fresh = super().interface()
        if self.cached is None or any(self.cached.get(key) != fresh[key] for key in fresh):
            self.cached = fresh
        return self.cached


@adapter
class ExplicitStrides(Array):
    """Always exports strides."""

    def strides(self) -> Entry:
        return self.host_array.strides


@adapter
class OpaqueDescr(Array):
    """Describes a structure as bytes of the right size."""

    def descr(self) -> Entry:
        return [("", f"|V{self.host_array.dtype.itemsize}")]


@adapter
class OtherFields(Array):
    """Lists fields in an order of its own in descr, which has the right size."""

    def descr(self) -> Entry:
        return list(reversed(self.host_array.dtype.descr))


class EarlyVersion(Array):
    """Exports a version that says nothing of streams, also while work is pending."""

    number = 2

    def version(self) -> Entry:
        return self.number

    def interface(self) -> Any:
        entries = super().interface()
        del entries["stream"]
        if self.number < 1:
            entries.pop("mask", None)
        return entries


@adapter
class Version2(EarlyVersion):
    """Exports version 2."""


@adapter
class Version1(EarlyVersion):
    """Exports version 1, with addresses of empty arrays."""

    number = 1

    def pointer(self) -> int:
        return self.address()


class _Version0(EarlyVersion):
    number = 0


class Version0(Producer):
    """Exports version 0, and has no masks."""

    array_class = _Version0

    def array(self, spec: Any) -> Array:
        if spec.mask is not None:
            raise NotImplementedError("masks")
        return super().array(spec)


@adapter
class EarlyMasks(Array):
    """Exports booleans, of which masks are made, with version 2, and all else with version 3."""

    def version(self) -> Entry:
        return 2 if self.host_array.dtype == bool else super().version()

    def interface(self) -> Any:
        entries = super().interface()
        if entries["version"] == EarlyVersion.number:
            del entries["stream"]
        return entries


@adapter
class OmitsEmptyEntries(Array):
    """Leaves entries out whose value would be None."""

    def interface(self) -> Any:
        return {key: value for key, value in super().interface().items() if value is not None}


@adapter
class ExplicitNone(Array):
    """Gives every optional entry, with None for what an array does not have."""

    def interface(self) -> Any:
        return {"mask": None, "strides": None, "stream": None, **super().interface()}


@adapter
class ByteOrderOfBytes(Array):
    """Gives the machine's byte order for elements of one byte."""

    def typestr(self) -> Entry:
        typestr: str = super().typestr()
        return f"<{typestr[1:]}" if typestr[:1] == "|" and typestr[1:2] in "biuS" else typestr


@adapter
class StrayStrides(Array):
    """Gives some stride for axes of one element."""

    def strides(self) -> Entry:
        axes = zip(self.host_array.shape, self.host_array.strides, strict=True)
        return tuple(12345 if extent == 1 else stride for extent, stride in axes)
