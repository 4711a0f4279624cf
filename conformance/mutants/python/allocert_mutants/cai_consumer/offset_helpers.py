"""Where the elements of an array lie, in bytes from its first element."""

import itertools
import math
from collections.abc import Iterator

Integers = tuple[int, ...]


def c_strides(shape: Integers, itemsize: int) -> Integers:
    strides: list[int] = []
    for extent in reversed(shape):
        strides.insert(0, itemsize)
        itemsize *= extent
    return tuple(strides)


def byte_range(shape: Integers, strides: Integers, itemsize: int) -> tuple[int, int]:
    """Returns the offset of the lowest byte and the offset behind the highest one."""
    if not math.prod(shape):
        return 0, 0
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=False)]
    lowest = sum(reach for reach in reaches if reach < 0)
    highest = sum(reach for reach in reaches if reach > 0)
    return lowest, highest + itemsize


def offsets(shape: Integers, strides: Integers) -> Iterator[int]:
    for index in itertools.product(*map(range, shape)):
        yield sum(i * stride for i, stride in zip(index, strides, strict=False))


def pieces(shape: Integers, strides: Integers, itemsize: int) -> list[tuple[int, int]]:
    """Returns offset and size of what can be filled or copied at once: all, or each element."""
    if not math.prod(shape):
        return []
    if strides == c_strides(shape, itemsize):
        return [(0, math.prod(shape) * itemsize)]
    return [(offset, itemsize) for offset in offsets(shape, strides)]
