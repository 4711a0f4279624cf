"""Consumers that leave out an order that the interface asks for."""

import os

from .consumer import Consumer, Imported


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
