"""Consumers that get one thing wrong."""

import ctypes
import math
import time

import numpy

from .consumer import Consumer, fill
from .layout import c_strides, offsets, span


class WantsStrides(Consumer):
    def strides(self, said, shape, size):
        strides = said["strides"]
        return c_strides(shape, size) if strides is None else self.explicit(strides, shape, size)


class WantsStream(Consumer):
    def given(self, said):
        return super().given({"stream": said["stream"]})


class ScalarIsEmpty(Consumer):
    def shape(self, said):
        return super().shape(said) or (0,)

    def explicit(self, strides, shape, size):
        return c_strides(shape, size)


class Squeezes(Consumer):
    """Axes of one element are left out."""

    def view(self, exporter, said):
        view = super().view(exporter, said)
        kept = [(extent, stride) for extent, stride in zip(view.shape, view.strides) if extent != 1]
        view.shape = tuple(extent for extent, _ in kept)
        view.strides = tuple(stride for _, stride in kept)
        return view


class OwnByteOrder(Consumer):
    def dtype(self, said, typestr):
        return super().dtype(said, typestr.replace(">", "<"))


class Integers(Consumer):
    """Every type is the integer of its size."""

    def dtype(self, said, typestr):
        size = super().dtype(said, typestr).itemsize
        return numpy.dtype(f"<i{size}" if size in (1, 2, 4, 8) else f"|V{size}")


class ForgetsType(Consumer):
    """Exports bytes, whatever came."""

    def export(self, view):
        view.said |= {"typestr": "|u1", "shape": (*view.shape, view.dtype.itemsize)}
        return view


class WritesReadOnly(Consumer):
    def write(self, view, byte):
        self.fill(view, byte, self.before(view))


class WritesBetween(Consumer):
    """From the first element to the last in one go."""

    def fill(self, view, byte, own):
        low, high = span(view.shape, view.strides, view.dtype.itemsize)
        if math.prod(view.shape):
            fill(view.pointer + low, byte, high - low, own)
        self.after(view, own)


class WritesWords(Consumer):
    """Sixteen bytes at a time."""

    def fill(self, view, byte, own):
        for offset in offsets(view.shape, view.strides):
            fill(view.pointer + offset, byte, -(-view.dtype.itemsize // 16) * 16, own)
        self.after(view, own)


class KeepsByShape(Consumer):
    """Makes one view for all arrays of a shape and a type."""

    def __init__(self):
        super().__init__()
        self.views = {}

    def view(self, exporter, said):
        view = super().view(exporter, said)
        return self.views.setdefault((view.shape, view.typestr), view)


class LaunchesAsBefore(Consumer):
    """Looks at an argument the first time alone."""

    def __init__(self):
        super().__init__()
        self.views = {}

    def launch(self, exporters, stream):
        first = [exporter for exporter in exporters if exporter not in self.views]
        super().launch(first, stream)
        self.views.update(
            (exporter, self.view(exporter, self.said(exporter))) for exporter in first
        )
        for exporter in exporters:
            if exporter not in first:
                self.fill(self.views[exporter], 0, self.own)
        return [self.describe(self.views[exporter]) for exporter in exporters]


class RefusesNull(Consumer):
    def data(self, said):
        pointer, read_only = super().data(said)
        if not pointer:
            raise ValueError("the pointer is 0")
        return pointer, read_only


class SkipsHeader(Consumer):
    """Takes the pointer for that of an object with one word before its data."""

    def data(self, said):
        pointer, read_only = super().data(said)
        return pointer + 8 if pointer else 0, read_only


class NewStridesOnly(Consumer):
    """Looks at strides from version 2 on."""

    def strides(self, said, shape, size):
        return super().strides(said if said["version"] >= 2 else {}, shape, size)


class FortranByDefault(Consumer):
    def strides(self, said, shape, size):
        if said.get("strides") is None:
            return tuple(reversed(c_strides(tuple(reversed(shape)), size)))
        return super().strides(said, shape, size)


class ExplicitIsFortran(Consumer):
    """Whoever gives strides has something to say."""

    def explicit(self, strides, shape, size):
        strides = super().explicit(strides, shape, size)
        fortran = tuple(reversed(c_strides(tuple(reversed(shape)), size)))
        return fortran if strides == c_strides(shape, size) else strides


class IgnoresStrides(Consumer):
    def explicit(self, strides, shape, size):
        return c_strides(shape, size)


class WholeElements(Consumer):
    def explicit(self, strides, shape, size):
        return tuple(stride // size * size for stride in super().explicit(strides, shape, size))


class Forwards(Consumer):
    def explicit(self, strides, shape, size):
        return tuple(map(abs, super().explicit(strides, shape, size)))


class ZeroIsUnset(Consumer):
    def explicit(self, strides, shape, size):
        given = super().explicit(strides, shape, size)
        return tuple(one or other for one, other in zip(given, c_strides(shape, size)))


class FieldsAlone(Consumer):
    """The size of an element is that of the fields that have names."""

    def dtype(self, said, typestr):
        named = [field for field in said.get("descr") or () if field[0]]
        return (
            numpy.dtype(f"|V{numpy.dtype(named).itemsize}")
            if named
            else super().dtype(said, typestr)
        )


class OpaqueIsBytes(Consumer):
    """Without descr an element is one byte."""

    def dtype(self, said, typestr):
        return super().dtype(said, typestr) if said.get("descr") else numpy.dtype("|u1")


class NoneIsMask(Consumer):
    """Whoever has the entry has a mask, and nothing in it is true."""

    def view(self, exporter, said):
        view = super().view(exporter, said)
        if "mask" in said and said["mask"] is None:
            view.valid = numpy.zeros(view.shape, bool)
        return view


class IgnoresMask(Consumer):
    def mask(self, said):
        return None


class OneIsTrue(Consumer):
    def true(self, elements):
        return elements == 1


class WaitsForHandles(Consumer):
    """Takes 1 and 2 for no streams."""

    def given(self, said):
        stream = super().given(said)
        return None if stream in (1, 2) else stream


class NeverWaits(Consumer):
    """No edge from the given stream; the other one is there."""

    def before(self, view, own=None):
        return own or self.own


class IgnoresByDefault(Consumer):
    def accept(self, exporter, ignore_stream):
        return super().accept(exporter, True)


class FirstArgument(Consumer):
    def before_argument(self, place, view, own):
        return own if place else self.before(view, own)


class ReleasesFirst(Consumer):
    """Lets the producer of the first argument wait for a launch, and no other."""

    def before_argument(self, place, view, own):
        view.waited_for = not place
        return super().before_argument(place, view, own)

    def after(self, view, own):
        if getattr(view, "waited_for", True):
            super().after(view, own)


class NoBackEdge(Consumer):
    """What control comes back with is work that nobody waits for."""

    def after(self, view, own):
        pass


class OrdersOnce(Consumer):
    """The first operation on a view is ordered, and the others are not."""

    def obeyed(self, view):
        return super().obeyed(view) and not getattr(view, "ordered", False)

    def after(self, view, own):
        if not getattr(view, "ordered", False):
            super().after(view, own)
        view.ordered = True


class WritesLast(Consumer):
    """Cleans up after itself in memory that it has not kept."""

    def kept(self, exporter):
        return None

    def accept(self, exporter, ignore_stream):
        view = super().accept(exporter, ignore_stream)
        return Cleaning(self, view)

    def describe(self, view):
        return super().describe(view.view)

    def read(self, view):
        return super().read(getattr(view, "view", view))


class Cleaning:
    def __init__(self, consumer, view):
        self.consumer, self.view = consumer, view

    def __del__(self):
        if self.view.pointer:
            fill(self.view.pointer, 0, self.view.dtype.itemsize, self.consumer.own)


class Crashes(Consumer):
    """Follows pointer 0."""

    def check(self, view):
        if not view.pointer:
            ctypes.string_at(0)


class FollowsMasks(Consumer):
    """A mask that is its own mask has no end."""

    def validity(self, exporter, mask, shape):
        while mask is exporter:
            time.sleep(0.01)
        return super().validity(exporter, mask, shape)


class DefaultStreamsAlone(Consumer):
    """Knows no stream that somebody else made."""

    def given(self, said):
        stream = super().given(said)
        if stream is not None and stream > 2:
            raise LookupError(f"no such stream: {stream}")
        return stream
