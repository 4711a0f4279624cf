"""What an attribute said, as far as the worker can use it as a consumer would. It is anybody's."""

from .. import describe
from ..text import bounded
from .element import Element
from .layout import Layout

ATTRIBUTE = "__cuda_array_interface__"


class Unusable(Exception):
    """What was said cannot be followed."""


class Said:
    """One value of the attribute, and nothing that it came from."""

    def __init__(self, value):
        self.value = value

    def facts(self, device):
        """The whole description, its well-typed entries as plain values, and what the driver knows of pointer and stream."""
        found = {"description": describe.interface(self.value), **self._plain()}
        pointer, stream = found.get("pointer"), found.get("stream")
        if pointer and pointer < 1 << 64:
            found["memory"] = device.memory_at(pointer)
        if type(stream) is int and 0 < stream < 1 << 64:
            found["stream_flags"] = device.stream_flags(stream)
            found["stream_context"] = device.stream_context(stream)
        return found

    def _plain(self):
        entries = self._entries()
        found = {"keys": sorted(bounded(key, 100) for key in entries if type(key) is str)[:64]}
        shape, strides = _integers(entries.get("shape")), _integers(entries.get("strides"))
        if shape is not None:
            found["shape"] = shape
        if type(entries.get("typestr")) is str:
            found["typestr"] = bounded(entries["typestr"], 100)
        data = entries.get("data")
        if isinstance(data, tuple) and len(data) == 2:
            if type(data[0]) is int and data[0] >= 0:
                found["pointer"] = data[0]
            found["read_only"] = data[1] if type(data[1]) is bool else None
        found["version"] = entries["version"] if type(entries.get("version")) is int else None
        found["stream"] = entries.get("stream") if type(entries.get("stream")) is int else None
        found["strides"] = strides
        found["fields"] = _fields(entries.get("descr"))
        try:
            found["effective_strides"] = list(self.layout().strides)
        except Unusable:
            pass
        return {name: value for name, value in found.items() if not _huge(value)}

    def _entries(self):
        return dict(self.value) if isinstance(self.value, dict) else {}

    @property
    def typestr(self):
        typestr = self._entries().get("typestr")
        if type(typestr) is not str:
            raise Unusable("the typestr is no string")
        return typestr

    @property
    def pointer(self):
        data = self._entries().get("data")
        if (
            not isinstance(data, tuple)
            or not data
            or type(data[0]) is not int
            or not 0 <= data[0] < 1 << 64
        ):
            raise Unusable("data is no tuple that begins with an address")
        return data[0]

    @property
    def stream(self):
        """The stream to wait for, or None."""
        stream = self._entries().get("stream")
        if stream is None:
            return None
        if type(stream) is not int or not 0 < stream < 1 << 64:
            raise Unusable(f"the stream is {str(stream)[:100]}")
        return stream

    def mask(self):
        """What the mask says of itself."""
        mask = self._entries().get("mask")
        if mask is None:
            raise Unusable("there is no mask")
        return Said(getattr(mask, ATTRIBUTE))

    def layout(self):
        entries = self._entries()
        shape, strides = _integers(entries.get("shape")), entries.get("strides")
        if shape is None or any(extent < 0 for extent in shape):
            raise Unusable("the shape is no tuple of extents")
        if strides is not None:
            strides = _integers(strides)
            if strides is None or len(strides) != len(shape):
                raise Unusable("the strides are no tuple of as many integers as the shape has")
        try:
            return Layout(shape, strides, Element(self.typestr).size_bytes)
        except ValueError as error:
            raise Unusable(str(error)) from None


def _integers(value):
    """A short tuple of integers as a list, or None."""
    if (
        not isinstance(value, tuple)
        or len(value) > 64
        or not all(type(one) is int for one in value)
    ):
        return None
    return list(value)


def _fields(descr):
    """The fields of a short descr without nested ones: name, typestr and, of a sub-array, shape. Or None."""
    if type(descr) is not list or len(descr) > 64:
        return None
    fields = [_field(one) for one in descr]
    return None if None in fields else fields


def _field(field):
    if not isinstance(field, tuple) or len(field) not in (2, 3):
        return None
    name, typestr = field[:2]
    name = name[-1] if isinstance(name, tuple) and name else name
    shape = _integers(field[2]) if len(field) == 3 else []
    if type(name) is not str or type(typestr) is not str or shape is None:
        return None
    said = [bounded(name, 100), bounded(typestr, 100)]
    return [*said, shape] if shape else said


def _huge(value):
    """Integers that readers of JSON round; the description has them in digits."""
    values = value if isinstance(value, list) else [value]
    return any(type(one) is int and not -(1 << 63) <= one < 1 << 64 for one in values)
