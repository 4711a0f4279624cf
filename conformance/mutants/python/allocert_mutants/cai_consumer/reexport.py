"""Consumers that export an imported array again with wrong entries."""

from .conforming_consumer import Consumer, View


class ReexportsBytes(Consumer):
    """Exports every imported array as bytes."""

    def export(self, view: View) -> View:
        view.entries |= {"typestr": "|u1", "shape": (*view.shape, view.dtype.itemsize)}
        return view


class ReexportsAsWritable(Consumer):
    """Exports read-only data as data that may be written."""

    def export(self, view: View) -> View:
        view.entries |= {"data": (view.pointer, False)}
        return view


class ReexportsEmptyWithAddress(Consumer):
    """Exports an imported array without elements with an address."""

    def export(self, view: View) -> View:
        view.entries |= {"data": (view.pointer or 4096, view.read_only)}
        return view


class ReexportsNewestVersion(Consumer):
    """Exports every imported array with version 3 and the entries that it was given."""

    def export(self, view: View) -> View:
        view.entries |= {"version": 3}
        return view


class ReexportsWithoutStream(Consumer):
    """Exports an imported array without its stream."""

    def export(self, view: View) -> View:
        view.entries |= {"stream": None}
        return view


class ReexportsOwnStream(Consumer):
    """Exports an imported array with a stream that has waited for nothing."""

    def export(self, view: View) -> View:
        view.entries |= {"stream": self.own_stream.handle}
        return view


class ReexportsWithoutMask(Consumer):
    """Exports an imported array without its mask."""

    def export(self, view: View) -> View:
        view.entries.pop("mask", None)
        return view
