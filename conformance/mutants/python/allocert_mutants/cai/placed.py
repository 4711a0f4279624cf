"""Libraries whose dictionary says the elements to be where they are not."""

from numpy.lib.array_utils import byte_bounds

from .producer import Array, library


@library
class HostAddress(Array):
    """Gives the address of its picture on the host."""

    def address(self):
        return self.shadow.__array_interface__["data"][0]


@library
class ZeroSizeAddress(Array):
    """An array of no elements has the address at which they would begin."""

    def pointer(self):
        return self.address()


@library
class ZeroSizeFirst(Array):
    """Takes an array for empty when its first extent is 0."""

    def pointer(self):
        return 0 if self.shadow.shape[:1] == (0,) else self.address()


@library
class NullScalar(Array):
    """Takes the shape of no dimensions for that of no elements."""

    def pointer(self):
        return super().pointer() if self.shadow.shape else 0


@library
class LowestAddress(Array):
    """The pointer is the lowest address, also where the elements go backwards."""

    def address(self):
        return self.memory.base + byte_bounds(self.shadow)[0] - self.origin


@library
class OwnersAddress(Array):
    """Views begin where their memory does."""

    def address(self):
        return self.memory.base


@library
class RepeatsContiguously(Array):
    """Takes an extent that is repeated with stride 0 for contiguous."""

    def strides(self):
        return None if 0 in self.shadow.strides else super().strides()


@library
class NeverStrides(Array):
    def strides(self):
        return None


@library
class StridesList(Array):
    def strides(self):
        strides = super().strides()
        return strides and list(strides)


@library
class StridesShort(Array):
    """No stride for the last dimension, which is taken for contiguous."""

    def strides(self):
        strides = super().strides()
        return strides and strides[:-1]


@library
class StridesElements(Array):
    """Strides count elements."""

    def strides(self):
        strides = super().strides()
        return strides and tuple(stride // self.shadow.itemsize for stride in strides)
