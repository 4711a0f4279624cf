"""Consumers that get wrong what they pass on, or give back what is not theirs."""

import ctypes
import weakref

from .consumer import Consumer
from .driver import quietly


class ExportsIdle(Consumer):
    """What it imported has no stream when it is exported again."""

    def export(self, view):
        view.said |= {"stream": None}
        return view


class ExportsOwn(Consumer):
    """What it imported has the consumer's own stream when it is exported again, whatever that has waited for."""

    def export(self, view):
        view.said |= {"stream": self.own.handle}
        return view


class ExportsBare(Consumer):
    """What it imported has no mask when it is exported again."""

    def export(self, view):
        view.said.pop("mask", None)
        return view


class FreesBorrowed(Consumer):
    """Gives memory back with the view of it."""

    def view(self, exporter, said):
        view = super().view(exporter, said)
        weakref.finalize(view, quietly, "cuMemFree_v2", ctypes.c_uint64(view.pointer))
        return view
