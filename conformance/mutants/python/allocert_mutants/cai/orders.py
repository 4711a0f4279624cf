"""Producers and consumers that leave out an order that the interface asks for."""

import os

from .consumer import Consumer, Imported
from .producer import Array, Producer


class _SaysNothing(Array):
    def said_stream(self):
        return None


class SaysNothing(Producer):
    """As before version 3."""

    array_class = _SaysNothing


class _SaysOne(Array):
    def said_stream(self):
        return self.memory.pending[0].handle if self.memory.pending else None


class SaysOne(Producer):
    array_class = _SaysOne


class _SaysZero(Array):
    def said_stream(self):
        return super().said_stream() or 0


class SaysZero(Producer):
    array_class = _SaysZero


class NeverWaits(Consumer):
    def wait(self, imported):
        pass


class NeverAwaited(Consumer):
    def done(self, imported):
        pass


class _Maskless(Imported):
    def check(self):
        self.mask = None
        super().check()


class IgnoresMask(Consumer):
    imported_class = _Maskless


class _Packed(Imported):
    def __init__(self, owner, said):
        super().__init__(owner, {**said, "strides": None})


class IgnoresStrides(Consumer):
    imported_class = _Packed


class _Trusts(Imported):
    def check(self):
        if not self.pointer and 0 not in self.shape:
            os.abort()


class Trusts(Consumer):
    """Dies of a pointer that is 0."""

    imported_class = _Trusts
