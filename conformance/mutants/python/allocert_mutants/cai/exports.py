"""Producers whose dictionary is wrong."""

import os

from .producer import Array, Producer


class _Lists(Array):
    def entries(self):
        return {**super().entries(), "shape": list(self.shape)}


class Lists(Producer):
    array_class = _Lists


class _ForgetsStrides(Array):
    def said_strides(self):
        return None


class ForgetsStrides(Producer):
    array_class = _ForgetsStrides


class _KeepsAddress(Array):
    def address(self):
        return self.pointer or 0x1000


class KeepsAddress(Producer):
    array_class = _KeepsAddress


class TakesHalf(Producer):
    def bytes_needed(self, size_bytes):
        return size_bytes // 2


class _Remembers(Array):
    def entries(self):
        if not hasattr(self, "said"):
            self.said = super().entries()
        return self.said


class Remembers(Producer):
    """One dict for all who ask."""

    array_class = _Remembers


_exported = []


class _KeepsOwner(Array):
    def entries(self):
        _exported.append(self)
        return super().entries()


class KeepsOwner(Producer):
    array_class = _KeepsOwner


class _Aborts(Array):
    def entries(self):
        os.abort()


class Aborts(Producer):
    array_class = _Aborts
