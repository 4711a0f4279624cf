"""Libraries that keep what they should let go, let go what they should keep, or do not come back."""

import ctypes
import os

from .driver import Stream, quietly
from .producer import Array, Producer, library

_seen = []


@library
class RemembersAll(Array):
    """Keeps every array whose attribute was read."""

    def interface(self):
        _seen.append(self)
        return super().interface()


@library
class OwnerEntry(Array):
    """The dictionary names the owner of the data."""

    def interface(self):
        return {**super().interface(), "owner": self}


class LosesStream(Producer):
    """Arrays know the number of a stream, and its user holds the stream."""

    def array(self, spec):
        spec.stream = spec.stream and Stream(spec.stream.handle)
        return super().array(spec)

    def write(self, array, stream, byte):
        super().write(array, stream and Stream(stream.handle), byte)


@library
class FreesEarly(Array):
    """Gives its memory back when it is exported."""

    def interface(self):
        entries = super().interface()
        quietly("cuMemFree_v2", ctypes.c_uint64(self.memory.base))
        return entries


@library
class DestroyedStream(Array):
    """Waits in a stream that it has destroyed."""

    def joined(self, work):
        stream = super().joined(work)
        quietly("cuStreamDestroy_v2", ctypes.c_void_p(stream.handle))
        quietly("cuStreamSynchronize", ctypes.c_void_p(stream.handle))
        return stream


@library
class Aborts(Array):
    """Ends the process at an array without elements."""

    def interface(self):
        if not self.shadow.size:
            os.abort()
        return super().interface()


@library
class Hangs(Array):
    """Waits for ever at an array without elements."""

    def interface(self):
        while not self.shadow.size:
            pass
        return super().interface()
