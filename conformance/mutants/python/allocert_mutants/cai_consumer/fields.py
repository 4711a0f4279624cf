"""Consumers that take the fields of elements from `descr`."""

import itertools
from typing import Any

import numpy

from .conforming_consumer import Consumer, Dtype, Entries


class TakesFields(Consumer):
    """Takes the fields of an element from `descr`, and conforms."""

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        dtype, descr = super().dtype(entries, typestr), entries.get("descr") or []
        has_fields = any(name for name, *_ in descr)
        return self.structure(descr, dtype.itemsize) if has_fields else dtype

    def structure(self, descr: list[Any], itemsize: int) -> Dtype:
        """A type with the fields that have a name; the others are padding."""
        formats = [self.field(*type_and_shape) for _, *type_and_shape in descr]
        ends = itertools.accumulate(field.itemsize for field in formats)
        fields = [
            (name, field, end - field.itemsize)
            for (name, *_), field, end in zip(descr, formats, ends, strict=True)
            if name
        ]
        return numpy.dtype(
            {
                "names": [name for name, _, _ in fields],
                "formats": [field for _, field, _ in fields],
                "offsets": [offset for _, _, offset in fields],
                "itemsize": itemsize,
            }
        )

    def field(self, described: Any, shape: tuple[int, ...] = ()) -> Dtype:
        return numpy.dtype((numpy.dtype(described), shape))


class PacksFields(TakesFields):
    """Takes the named fields one after the other, in an element of the right size."""

    def structure(self, descr: list[Any], itemsize: int) -> Dtype:
        return super().structure([field for field in descr if field[0]], itemsize)


class RemembersFieldsOfType(TakesFields):
    """Takes the fields of the first array for those of all arrays with the same typestr."""

    def __init__(self) -> None:
        super().__init__()
        self.dtypes: dict[str, Dtype] = {}

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        return self.dtypes.setdefault(typestr, super().dtype(entries, typestr))


class SwapsNoFields(TakesFields):
    """Takes every field in the byte order of this machine."""

    def field(self, described: Any, shape: tuple[int, ...] = ()) -> Dtype:
        field: Dtype = super().field(described, shape).newbyteorder("=")
        return field
