"""The facts of data that were read from an array."""

from typing import Any

from ..operations import Facts
from .element import Element, plain_number

#: Elements whose values are reported one by one; of more only what all bytes are.
_VALUE_LIMIT = 256


def of_bytes(data: bytes, typestr: str) -> Facts:
    """The facts of elements that lie one after the other."""
    element = Element(typestr)
    size = element.size_bytes
    found: Facts = {"uniform": uniform_byte(data), "bytes_read": len(data)}
    if size and len(data) <= _VALUE_LIMIT * size:
        found["values"] = [
            element.value(data[start : start + size]) for start in range(0, len(data), size)
        ]
        found["truths"] = [_is_true(value) for value in found["values"]]
    return found


def of_numpy(host: Any) -> Facts:
    """The facts of a NumPy array. Of a masked array those of the data below the mask."""
    # `describe` of an adapter says which elements are valid.
    host = host.data if hasattr(host, "mask") else host
    data: bytes = host.tobytes()
    found: Facts = {"uniform": uniform_byte(data), "bytes_read": len(data)}
    if host.dtype.kind in "SUV":
        return of_bytes(data, f"|V{host.dtype.itemsize}")
    # Dates and time spans are the numbers that they are stored as.
    counted = host.view(f"{host.dtype.byteorder}i8") if host.dtype.kind in "mM" else host
    flat = counted.ravel().tolist()
    if len(flat) <= _VALUE_LIMIT:
        found["values"] = [_scalar(value) for value in flat]
    return found


def uniform_byte(data: bytes) -> int | None:
    """The byte that all of `data` is made of, or None."""
    return data[0] if data and data.count(data[0]) == len(data) else None


def _is_true(value: Any) -> bool:
    """Whether an element that was read as this value is true: it is not zero."""
    if isinstance(value, list):
        return any(_is_true(part) for part in value)
    return bool(value.strip("0")) if isinstance(value, str) else bool(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, complex):
        return [plain_number(value.real), plain_number(value.imag)]
    return plain_number(value) if isinstance(value, (bool, int, float)) else str(value)[:100]
