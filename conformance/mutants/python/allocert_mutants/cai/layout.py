"""Where elements lie: bytes from the first one."""

import itertools
import math
import re


def size_of(typestr):
    match = re.fullmatch(r"[<>|][tbiufcmMSUV]([0-9]+)(\[.*\])?", typestr)
    if match is None:
        raise ValueError(f"{typestr!r} is no typestr")
    return int(match[1]) * (4 if typestr[1] == "U" else 1)


def c_strides(shape, size):
    strides = []
    for extent in reversed(shape):
        strides.insert(0, size)
        size *= extent
    return tuple(strides)


def is_contiguous(shape, strides, size):
    wanted = c_strides(shape, size)
    return 0 in shape or all(extent == 1 or have == want for extent, have, want in zip(shape, strides, wanted))


def span(shape, strides, size):
    if not math.prod(shape):
        return 0, 0
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    return sum(reach for reach in reaches if reach < 0), sum(reach for reach in reaches if reach > 0) + size


def offsets(shape, strides):
    for index in itertools.product(*map(range, shape)):
        yield sum(place * stride for place, stride in zip(index, strides))


def gathered(raw, low, shape, strides, size):
    return b"".join(bytes(raw[at - low : at - low + size]) for at in offsets(shape, strides))


def scattered(data, shape, strides, size):
    """The memory of an array without gaps in some order of axes."""
    raw = bytearray(len(data))
    for index, at in enumerate(offsets(shape, strides)):
        raw[at : at + size] = data[index * size : (index + 1) * size]
    return bytes(raw)
