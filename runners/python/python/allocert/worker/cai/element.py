"""Elements of arrays as bytes and as plain values. What is no number of a known kind is left as bytes."""

import math
import re
import struct

_TYPESTR = re.compile(r"([<>|=])([a-zA-Z])([0-9]+)(\[[^\]]*\])?")
_CODES = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d", "m8": "q", "M8": "q",
}  # fmt: skip
_COMPLEX = {"c8": "ff", "c16": "dd"}


class Element:
    """The type of an element; ValueError for a typestr that says no size."""

    def __init__(self, typestr):
        match = _TYPESTR.fullmatch(typestr)
        if match is None:
            raise ValueError(f"{typestr[:100]!r} is no typestr")
        order, kind, count, _ = match.groups()
        self.size_bytes = int(count) * (4 if kind == "U" else 1)
        code = _CODES.get(kind + count) or _COMPLEX.get(kind + count)
        self._format = code and (">" if order == ">" else "<") + code

    def count(self, index):
        """The bytes of the element that holds this number, as far as it can."""
        if self._format is None:
            return bytes((index + place) % 251 for place in range(self.size_bytes))
        if self._format[1:] in _COMPLEX.values():
            return struct.pack(self._format, index, 0)
        if self._format.endswith("?"):
            return struct.pack(self._format, index % 2)
        limit = 1 << (8 * self.size_bytes - 1)
        return struct.pack(
            self._format, index % limit if self._format[-1] in "bhiqBHIQ" else index % 2048
        )

    def value(self, data):
        """A number, `[real, imaginary]`, or the bytes in hexadecimal."""
        if self._format is None:
            return data.hex()
        numbers = [plain(number) for number in struct.unpack(self._format, data)]
        return numbers[0] if len(numbers) == 1 else numbers


def plain(number):
    """A number as JSON has it: whole numbers whole, true and false as 1 and 0, what is no number as text."""
    if isinstance(number, float):
        if not math.isfinite(number):
            return str(number)
        return int(number) if number.is_integer() else number
    return int(number)
