"""Where elements lie: bytes from the first one."""

import itertools
import math


def c_strides(shape, size):
    strides = []
    for extent in reversed(shape):
        strides.insert(0, size)
        size *= extent
    return tuple(strides)


def span(shape, strides, size):
    if not math.prod(shape):
        return 0, 0
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    return sum(reach for reach in reaches if reach < 0), sum(
        reach for reach in reaches if reach > 0
    ) + size


def offsets(shape, strides):
    for index in itertools.product(*map(range, shape)):
        yield sum(place * stride for place, stride in zip(index, strides))
