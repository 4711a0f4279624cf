"""Where the elements of an array lie. Offsets are bytes from the element with all indices 0."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

#: How many elements would fit into the gap behind each row of a pitched array.
_ROW_GAP_ELEMENTS = 4


class Layout:
    """The shape of an array and its strides in bytes. Without strides it lies in C order."""

    def __init__(
        self, shape: Sequence[int], strides: Sequence[int] | None, element_bytes: int
    ) -> None:
        self.shape, self.element_bytes = tuple(shape), element_bytes
        self.elements = math.prod(self.shape)
        #: Whether strides were given.
        self.explicit = strides is not None
        self.strides = c_strides(self.shape, element_bytes) if strides is None else tuple(strides)

    def span(self) -> tuple[int, int]:
        """The offset of the lowest byte, and of the byte after the highest."""
        if not self.elements:
            return 0, 0
        # The caller checks that there are as many strides as extents.
        reaches = [
            (extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=False)
        ]
        low = sum(reach for reach in reaches if reach < 0)
        return low, sum(reach for reach in reaches if reach > 0) + self.element_bytes

    def least_stride(self) -> int | None:
        """The least stride without its sign, of those other than 0 that lead to other elements."""
        steps = zip(self.shape, self.strides, strict=False)
        used = [abs(stride) for extent, stride in steps if extent > 1 and stride]
        return min(used, default=None)

    def offsets(self) -> Iterator[int]:
        """The offset of each element, in C order."""
        axes: list[Sequence[int]] = [
            range(0, extent * stride, stride) if stride else [0] * extent
            for extent, stride in zip(self.shape, self.strides, strict=False)
        ]
        return (sum(index) for index in itertools.product(*axes))

    def gathered(self, raw: bytes) -> bytes:
        """The elements in C order, out of bytes that begin with the lowest one of the array."""
        low, _ = self.span()
        size = self.element_bytes
        return b"".join(raw[offset - low : offset - low + size] for offset in self.offsets())

    def between_elements(self, raw: bytes) -> bytes:
        """The bytes that belong to no element, out of bytes that begin with the lowest one."""
        low, _ = self.span()
        is_free = bytearray(b"\1") * len(raw)
        for offset in self.offsets():
            is_free[offset - low : offset - low + self.element_bytes] = bytes(self.element_bytes)
        return bytes(itertools.compress(raw, is_free))


def strides_of(layout: str, shape: Sequence[int], element_bytes: int) -> tuple[int, ...] | None:
    """The strides in bytes of a layout that a case names; none for C order without gaps."""
    if layout == "c" or not shape:
        return None
    if layout == "fortran":
        return tuple(reversed(c_strides(shape[::-1], element_bytes)))
    if layout == "pitched":
        return c_strides([*shape[:-1], shape[-1] + _ROW_GAP_ELEMENTS], element_bytes)
    first, *others = c_strides(shape, element_bytes)
    strides: dict[str, tuple[int, ...]] = {
        "spaced": (2 * first, *(2 * stride for stride in others)),
        "reversed": (-first, *(-stride for stride in others)),
        "reversed_rows": (-first, *others),
        "broadcast": (0, *others),
    }
    return strides[layout]


def c_strides(shape: Sequence[int], element_bytes: int) -> tuple[int, ...]:
    """The strides in bytes of an array in C order without gaps."""
    strides = []
    for extent in reversed(shape):
        strides.append(element_bytes)
        element_bytes *= extent
    return tuple(reversed(strides))


def broadcast(values: Sequence[Any], shape: Sequence[int], to: Sequence[int]) -> list[Any]:
    """The values of an array of `shape` in C order, once for each element of the shape `to`.

    The values as they are if NumPy does not broadcast the one shape to the other.
    """
    padded = [1] * (len(to) - len(shape)) + list(shape)
    if len(padded) != len(to) or any(
        extent not in (1, wanted) for extent, wanted in zip(padded, to, strict=True)
    ):
        return list(values)
    steps = zip(padded, c_strides(padded, 1), strict=True)
    strides = [0 if extent == 1 else stride for extent, stride in steps]
    return [values[offset] for offset in Layout(to, strides, 1).offsets()]
