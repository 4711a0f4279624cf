"""The facts of data that were read from an array."""

import math
from collections.abc import Iterator
from typing import Any

from ..operations import Facts
from ..safe_text import bounded
from ..uniform import uniform_byte
from .element import Element, plain_number
from .typestr import canonical

#: Elements whose values are reported one by one; of more only what all bytes are.
_VALUE_LIMIT = 256
#: More fields are not reported.
_FIELD_LIMIT = 64


def of_bytes(data: bytes, typestr: str, descr: Any = None) -> Facts:
    """The facts of elements that lie one after the other, with the fields of a flat `descr`."""
    element = Element(typestr)
    size = element.size_bytes
    found = _of_all(data, typestr)
    if size and len(data) <= _VALUE_LIMIT * size:
        found["values"] = [
            element.value(data[start : start + size]) for start in range(0, len(data), size)
        ]
        found["truths"] = [_is_true(value) for value in found["values"]]
        if descr is not None:
            found["fields"] = dict(_fields_in_bytes(data, size, descr))
    return found


def of_numpy(host: Any, descr: Any = None) -> Facts:
    """The facts of a NumPy array. Of a masked array those of the data below the mask.

    An array of plain bytes takes no fields: then they are those of `descr`.
    """
    # `describe` of an adapter says which elements are valid.
    host = host.data if hasattr(host, "mask") else host
    data: bytes = host.tobytes()
    found = _of_all(data, host.dtype.str)
    if host.dtype.names is not None:
        names = host.dtype.names[:_FIELD_LIMIT]
        fields = {bounded(name, 100): of_numpy(host[name]).get("values") for name in names}
        return {**of_bytes(data, host.dtype.str), **found, "fields": fields}
    if host.dtype.kind in "SUV":
        return {**of_bytes(data, f"|V{host.dtype.itemsize}", descr), **found}
    # Dates and time spans are the numbers that they are stored as.
    counted = host.view(f"{host.dtype.byteorder}i8") if host.dtype.kind in "mM" else host
    flat = counted.ravel().tolist()
    if len(flat) <= _VALUE_LIMIT:
        found["values"] = [_scalar(value) for value in flat]
    return found


def _of_all(data: bytes, typestr: str) -> Facts:
    return {
        "uniform": uniform_byte(data),
        "bytes_read": len(data),
        "typestr": canonical(typestr),
    }


def _fields_in_bytes(data: bytes, size_bytes: int, descr: Any) -> Iterator[tuple[str, Any]]:
    """Each field with its values, up to one that has fields of its own or does not fit."""
    offset = 0
    for name, typestr, *shape in descr:
        if not isinstance(typestr, str):
            return
        field_bytes = Element(typestr).size_bytes * math.prod(*(shape or [()]))
        end = offset + field_bytes
        if end > size_bytes or len(data) % size_bytes:
            return
        starts = range(offset, len(data), size_bytes)
        field = b"".join(data[start : start + field_bytes] for start in starts)
        yield bounded(basic_name(name), 100), of_bytes(field, typestr).get("values")
        offset = end


def basic_name(name: Any) -> Any:
    """The basic name of a field, which may have a full name in front of it."""
    return name[-1] if isinstance(name, tuple) and name else name


def _is_true(value: Any) -> bool:
    """Whether an element that was read as this value is true: it is not zero."""
    if isinstance(value, list):
        return any(_is_true(part) for part in value)
    return bool(value.strip("0")) if isinstance(value, str) else bool(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, complex):
        return [plain_number(value.real), plain_number(value.imag)]
    return plain_number(value) if isinstance(value, (bool, int, float)) else str(value)[:100]
