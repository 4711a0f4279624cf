"""The value of `__cuda_array_interface__`, as far as the worker can use it as a consumer.

Any object may stand there.
"""

import contextlib
from typing import Any

from ..device import Device
from ..operations import Facts
from ..safe_text import bounded
from . import describe
from .data_facts import basic_name
from .element import Element
from .layout import Layout
from .typestr import canonical

#: The entry that `edit_export` adds to a dict that the producer gave out.
EDITED_KEY = "allocert"
#: More axes, fields or keys are not reported.
_ITEM_LIMIT = 64
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1


class Unusable(Exception):
    """No consumer can use the interface as it is."""


class ExportedInterface:
    """One value of the attribute. It keeps the object that it came from alive only as `owner`."""

    def __init__(self, value: Any, owner: Any = None) -> None:
        self.value, self.owner = value, owner
        #: What the attributes of its masks returned, the outermost first.
        self._masks: list[Any] = []

    def facts(self, device: Device) -> Facts:
        """The description, the well-typed entries as plain values, and what the driver reports.

        The driver reports on the memory at the pointer and on the stream.
        """
        description = describe.interface(self.value, self._masks)
        found = {"description": description, **self._plain_entries()}
        pointer, stream = found.get("pointer"), found.get("stream")
        if pointer and pointer <= _LARGEST:
            found["memory"] = device.memory_at(pointer)
        if stream is not None and 0 < stream <= _LARGEST:
            found["stream_flags"] = device.stream_flags(stream)
            found["stream_context"] = device.stream_context(stream)
        return found

    def _plain_entries(self) -> Facts:
        entries = self._entries()
        keys = [bounded(_text(key), 100) for key in entries if isinstance(key, str)]
        # Those of the interface come first, however many others there are.
        keys.sort(key=lambda key: (key not in describe.KEYS, key))
        found: Facts = {"keys": keys[:_ITEM_LIMIT], "edited": EDITED_KEY in keys}
        shape, strides = _integers(entries.get("shape")), _integers(entries.get("strides"))
        if shape is not None:
            found["shape"] = shape
        if isinstance(entries.get("typestr"), str):
            found["typestr"] = bounded(canonical(_text(entries["typestr"])), 100)
        data = entries.get("data")
        if isinstance(data, tuple) and len(data) == 2:
            pointer = _integer(data[0])
            if pointer is not None and pointer >= 0:
                found["pointer"] = pointer
            found["read_only"] = data[1] if type(data[1]) is bool else None
        found["version"] = _integer(entries.get("version"))
        found["stream"] = _integer(entries.get("stream"))
        found["strides"] = strides
        found["fields"] = _fields(entries.get("descr"))
        with contextlib.suppress(Unusable):
            layout = self.layout()
            found["effective_strides"] = list(layout.strides)
            found["least_stride"] = layout.least_stride()
        return {name: value for name, value in found.items() if not _is_too_large(value)}

    def _entries(self) -> dict[Any, Any]:
        return dict(self.value) if isinstance(self.value, dict) else {}

    @property
    def typestr(self) -> str:
        """The typestr. Raises Unusable if it is no string."""
        typestr = self._entries().get("typestr")
        if not isinstance(typestr, str):
            raise Unusable("the typestr is not a string")
        return _text(typestr)

    @property
    def pointer(self) -> int:
        """The device address of the element with all indices 0. Raises Unusable."""
        data = self._entries().get("data")
        first = _integer(data[0]) if isinstance(data, tuple) and data else None
        if first is None or not 0 <= first <= _LARGEST:
            raise Unusable("data is not a tuple that begins with an address")
        return first

    @property
    def stream(self) -> int | None:
        """The stream to wait for, or None. Raises Unusable if it is no stream's handle."""
        stream = self._entries().get("stream")
        if stream is None:
            return None
        handle = _integer(stream)
        if handle is None or not 0 < handle <= _LARGEST:
            raise Unusable(f"the stream is {str(stream)[:100]}")
        return handle

    def mask(self) -> "ExportedInterface":
        """The interface of the mask, from the reading that `facts` described if there was one.

        Raises Unusable if there is no mask.
        """
        if self._masks:
            return ExportedInterface(self._masks[0])
        mask = self._entries().get("mask")
        if mask is None:
            raise Unusable("there is no mask")
        return ExportedInterface(getattr(mask, describe.ATTRIBUTE))

    def layout(self) -> Layout:
        """Where the elements lie. Raises Unusable if shape, strides or typestr are not valid."""
        entries = self._entries()
        shape, strides = _integers(entries.get("shape")), entries.get("strides")
        if shape is None or any(extent < 0 for extent in shape):
            raise Unusable("the shape is not a tuple of extents")
        if strides is not None:
            strides = _integers(strides)
            if strides is None or len(strides) != len(shape):
                raise Unusable("the strides are not a tuple of as many integers as the shape has")
        try:
            return Layout(shape, strides, Element(self.typestr).size_bytes)
        except ValueError as error:
            raise Unusable(str(error)) from None


def _integers(value: Any) -> list[int] | None:
    """A short tuple of integers as a list, or None."""
    if not isinstance(value, tuple) or len(value) > _ITEM_LIMIT:
        return None
    items = [_integer(item) for item in value]
    return [item for item in items if item is not None] if None not in items else None


def _integer(value: Any) -> int | None:
    """An integer, also of a subclass of int, as a plain one. A bool is one."""
    return int.__index__(value) if isinstance(value, int) else None


def _text(value: str) -> str:
    """Text, also of a subclass of str, as plain text."""
    return value if type(value) is str else str.__str__(value)


def _fields(descr: Any) -> list[list[Any]] | None:
    """The fields of a short `descr`, or None if it is none or has nested fields."""
    if type(descr) is not list or len(descr) > _ITEM_LIMIT:
        return None
    fields = []
    for entry in descr:
        field = _field(entry)
        if field is None:
            return None
        fields.append(field)
    return fields


def _field(field: Any) -> list[Any] | None:
    """Name and typestr, and the shape of a sub-array."""
    if not isinstance(field, tuple) or len(field) not in (2, 3):
        return None
    name, typestr = basic_name(field[0]), field[1]
    shape = _integers(field[2]) if len(field) == 3 else []
    if not isinstance(name, str) or not isinstance(typestr, str) or shape is None:
        return None
    found = [bounded(_text(name), 100), bounded(canonical(_text(typestr)), 100)]
    return [*found, shape] if shape else found


def _is_too_large(value: Any) -> bool:
    """Whether readers of JSON would round an integer; the description has its digits."""
    values = value if isinstance(value, list) else [value]
    return any(type(item) is int and not _SMALLEST <= item <= _LARGEST for item in values)
