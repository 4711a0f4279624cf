"""Elements of arrays as bytes and as plain values. Elements of an unknown kind stay bytes."""

import math
import re
import struct
from typing import Any

_TYPESTR = re.compile(r"([<>|=])([a-zA-Z])([0-9]+)(\[[^\]]*\])?")
#: Kind and size of a typestr -> the code of `struct`.
_CODES = {
    "b1": "?",
    "i1": "b", "i2": "h", "i4": "i", "i8": "q",
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d",
    "m8": "q", "M8": "q",
}  # fmt: skip
_COMPLEX_CODES = {"c8": "ff", "c16": "dd"}
_INTEGERS = "bhiqBHIQ"
#: Up to here a floating-point number of 16 bits holds every integer.
_FLOAT_LIMIT = 2048


class Element:
    """The type of an element. Raises ValueError for a typestr without a size."""

    def __init__(self, typestr: str) -> None:
        match = _TYPESTR.fullmatch(typestr)
        if match is None:
            raise ValueError(f"{typestr[:100]!r} is not a typestr")
        order, kind, count, _ = match.groups()
        self.size_bytes = int(count) * (4 if kind == "U" else 1)
        code = _CODES.get(kind + count) or _COMPLEX_CODES.get(kind + count)
        self._code = code
        self._format = None if code is None else (">" if order == ">" else "<") + code

    def count(self, index: int) -> bytes:
        """The bytes of an element that holds this number, as far as the type can."""
        if self._format is None or self._code is None:
            return bytes((index + place) % 251 for place in range(self.size_bytes))
        if self._code in _COMPLEX_CODES.values():
            return struct.pack(self._format, index, 0)
        if self._code == "?":
            return struct.pack(self._format, index % 2)
        limit = 1 << (8 * self.size_bytes - 1) if self._code in _INTEGERS else _FLOAT_LIMIT
        return struct.pack(self._format, index % limit)

    def value(self, data: bytes) -> Any:
        """A number, `[real, imaginary]`, or the bytes in hexadecimal."""
        if self._format is None:
            return data.hex()
        numbers = [plain_number(number) for number in struct.unpack(self._format, data)]
        return numbers[0] if len(numbers) == 1 else numbers


def plain_number(number: Any) -> int | float | str:
    """A number as JSON has it.

    A float without a fraction becomes an integer, a boolean 1 or 0, and infinity and NaN text.
    """
    if isinstance(number, float):
        if not math.isfinite(number):
            return str(number)
        return int(number) if number.is_integer() else number
    return int(number)
