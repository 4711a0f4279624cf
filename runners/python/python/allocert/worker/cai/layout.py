"""Where the elements of an array lie. Offsets are bytes from the element with index 0 on every axis."""

import itertools
import math

#: The largest array that is looked at element by element.
ELEMENTS = 65536


class Layout:
    def __init__(self, shape, strides, element_bytes):
        self.shape, self.element_bytes = tuple(shape), element_bytes
        self.elements = math.prod(self.shape)
        self.strides = c_strides(self.shape, element_bytes) if strides is None else tuple(strides)

    def span(self):
        """The offset of the lowest byte, and of the byte after the highest."""
        if not self.elements:
            return 0, 0
        reaches = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        low = sum(reach for reach in reaches if reach < 0)
        return low, sum(reach for reach in reaches if reach > 0) + self.element_bytes

    def offsets(self):
        """Of each element, in C order."""
        steps = [range(0, extent * stride, stride) if stride else [0] * extent
                 for extent, stride in zip(self.shape, self.strides)]  # fmt: skip
        return (sum(index) for index in itertools.product(*steps))

    def beside(self, raw):
        """Of bytes that begin with the lowest one of all: those that belong to no element."""
        low, _ = self.span()
        free = bytearray(b"\1") * len(raw)
        for offset in self.offsets():
            free[offset - low : offset - low + self.element_bytes] = bytes(self.element_bytes)
        return bytes(itertools.compress(raw, free))


def c_strides(shape, element_bytes):
    strides = []
    for extent in reversed(shape):
        strides.append(element_bytes)
        element_bytes *= extent
    return tuple(reversed(strides))
