"""A faithful consumer: its work on a stream of its own waits for the exported stream, which waits for that work. Mutants get one of its
small methods wrong."""

import ctypes
import math
import re

import numpy

from .driver import LEGACY, PER_THREAD, Event, Stream, call
from .layout import c_strides, offsets, span

ENTRIES = ("shape", "typestr", "data", "version")
_TYPESTR = re.compile(r"[<>|][biufcmMSUV][0-9]+(\[[^\]]+\])?")


class View:
    """What was imported: the entries that were understood."""

    def __init__(self, said, **entries):
        self.said = said
        self.owner = None
        self.ignore_stream = False
        self.__dict__.update(entries)

    @property
    def __cuda_array_interface__(self):
        return dict(self.said)


class Consumer:
    def __init__(self):
        self._own = None

    # -- what the suite asks for

    def accept(self, exporter, ignore_stream):
        view = self.view(exporter, self.said(exporter))
        view.ignore_stream = ignore_stream
        view.owner = self.kept(exporter)
        return view

    def describe(self, view):
        found = {
            "shape": view.shape,
            "typestr": view.typestr,
            "strides": view.strides,
            "pointer": view.pointer,
        }
        found |= {"read_only": view.read_only, "stream": view.stream}
        return found | {"valid": None if view.valid is None else view.valid.ravel().tolist()}

    def read(self, view):
        """The elements, after whatever the stream has; the host waits for them."""
        if not math.prod(view.shape):
            return numpy.empty(view.shape, view.dtype)
        low, high = span(view.shape, view.strides, view.dtype.itemsize)
        own = self.before(view)
        host = ctypes.create_string_buffer(high - low)
        address, size = ctypes.c_uint64(view.pointer + low), ctypes.c_size_t(high - low)
        call("cuMemcpyDtoHAsync_v2", host, address, size, ctypes.c_void_p(own.handle))
        self.after(view, own)
        synchronize(own)
        return numpy.array(numpy.ndarray(view.shape, view.dtype, host, -low, view.strides))

    def write(self, view, byte):
        """Every element, one after the other, and nobody waits."""
        if view.read_only:
            raise ValueError("the data are read-only")
        self.fill(view, byte, self.before(view))

    def fill(self, view, byte, own):
        for offset in offsets(view.shape, view.strides):
            fill(view.pointer + offset, byte, view.dtype.itemsize, own)
        self.after(view, own)

    def launch(self, exporters, stream):
        views = [self.accept(exporter, False) for exporter in exporters]
        for place, view in enumerate(views):
            own = self.before_argument(place, view, stream or self.own)
            if view.read_only:
                self.after(view, own)
            else:
                self.fill(view, 0, own)
        return [self.describe(view) for view in views]

    def stream(self, kind):
        return Stream({"legacy": LEGACY, "per_thread": PER_THREAD, "default": LEGACY}.get(kind))

    def export(self, view):
        return view

    # -- the entries

    def said(self, exporter):
        said = exporter.__cuda_array_interface__
        if not isinstance(said, dict):
            raise TypeError("the interface is no dict")
        missing = [name for name in ENTRIES if name not in said]
        if missing:
            raise ValueError(f"the interface has no {', '.join(missing)}")
        return dict(said)

    def kept(self, exporter):
        return exporter

    def view(self, exporter, said):
        version, typestr, shape = self.version(said), self.typestr(said), self.shape(said)
        dtype = self.dtype(said, typestr)
        pointer, read_only = self.data(said)
        strides = self.strides(said, shape, dtype.itemsize)
        view = View(
            said, version=version, typestr=typestr, shape=shape, dtype=dtype, strides=strides
        )
        view.pointer, view.read_only, view.stream, view.valid = (
            pointer,
            read_only,
            self.given(said),
            None,
        )
        self.check(view)
        mask = self.mask(said) if version else None
        if mask is not None:
            view.valid = self.validity(exporter, mask, shape)
        return view

    def version(self, said):
        version = said["version"]
        if type(version) is not int or not 0 <= version <= 3:
            raise ValueError(f"no version: {version}")
        return version

    def typestr(self, said):
        typestr = said["typestr"]
        if not isinstance(typestr, str) or not _TYPESTR.fullmatch(typestr):
            raise TypeError(f"no typestr: {typestr}")
        return typestr

    def shape(self, said):
        shape = said["shape"]
        if not isinstance(shape, tuple) or any(
            type(extent) is not int or extent < 0 for extent in shape
        ):
            raise ValueError(f"no shape: {shape}")
        return shape

    def dtype(self, said, typestr):
        dtype = numpy.dtype(typestr)
        descr = said.get("descr")
        if descr is not None and numpy.dtype(descr).itemsize != dtype.itemsize:
            raise ValueError("descr and typestr are of different sizes")
        return dtype

    def data(self, said):
        data = said["data"]
        if not isinstance(data, tuple) or len(data) != 2:
            raise TypeError(f"no data: {data}")
        pointer, read_only = data
        if type(pointer) is not int or not 0 <= pointer < 1 << 64 or type(read_only) is not bool:
            raise TypeError(f"no data: {data}")
        return pointer, read_only

    def strides(self, said, shape, size):
        strides = said.get("strides")
        return c_strides(shape, size) if strides is None else self.explicit(strides, shape, size)

    def explicit(self, strides, shape, size):
        if not isinstance(strides, tuple) or any(type(stride) is not int for stride in strides):
            raise TypeError(f"no strides: {strides}")
        if len(strides) != len(shape):
            raise ValueError("there are not as many strides as extents")
        return strides

    def given(self, said):
        stream = said.get("stream")
        if stream is not None and (type(stream) is not int or not 0 < stream < 1 << 64):
            raise ValueError(f"no stream: {stream}")
        return stream

    def mask(self, said):
        return said.get("mask")

    def validity(self, exporter, mask, shape):
        if mask is exporter or not hasattr(mask, "__cuda_array_interface__"):
            raise TypeError("the mask is no array of its own")
        elements = self.read(self.view(mask, self.said(mask)))
        return numpy.broadcast_to(self.true(elements), shape)

    def true(self, elements):
        return elements != 0

    def check(self, view):
        if not math.prod(view.shape):
            return
        if not view.pointer:
            raise ValueError("the pointer is 0")
        low, high = span(view.shape, view.strides, view.dtype.itemsize)
        if (
            view.pointer + low < 0
            or view.pointer + high > 1 << 63
            or math.prod(view.shape) > 1 << 60
        ):
            raise OverflowError("the array reaches beyond all addresses")

    # -- order

    @property
    def own(self):
        if self._own is None:
            self._own = Stream()
        return self._own

    def before(self, view, own=None):
        """The stream that work on the view may be put into now."""
        own = own or self.own
        if self.obeyed(view):
            own.wait(Event(Stream(view.stream)))
        return own

    def before_argument(self, place, view, own):
        return self.before(view, own)

    def after(self, view, own):
        """What is put into the given stream from now on waits for what was put into ours."""
        if self.obeyed(view):
            Stream(view.stream).wait(Event(own))
        elif not view.ignore_stream:
            synchronize(own)

    def obeyed(self, view):
        return view.stream is not None and not view.ignore_stream


def fill(pointer, byte, size, stream):
    size, handle = ctypes.c_size_t(size), ctypes.c_void_p(stream.handle)
    call("cuMemsetD8Async", ctypes.c_uint64(pointer), ctypes.c_ubyte(byte), size, handle)


def synchronize(stream):
    call("cuStreamSynchronize", ctypes.c_void_p(stream.handle))
