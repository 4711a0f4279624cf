"""A consumer that conforms.

It works on a stream of its own, which waits for the exported stream, and makes the exported stream
wait for that work. A mutant overrides one of its small methods.
"""

import ctypes
import math
import re
from typing import Any, TypeAlias

import numpy

from allocert_mutants.cuda_driver import LEGACY, PER_THREAD, Event, Memory, Stream, call

from .offset_helpers import Integers, byte_range, c_strides, pieces

Entries: TypeAlias = dict[str, Any]
HostArray: TypeAlias = "numpy.ndarray[Any, Any]"
Dtype: TypeAlias = "numpy.dtype[Any]"

REQUIRED_ENTRIES = ("shape", "typestr", "data", "version")
_TYPESTR = re.compile(r"[<>|][biufcmMSUV][0-9]+(\[[^\]]+\])?")


class View:
    """An imported array."""

    def __init__(
        self,
        entries: Entries,
        version: int,
        typestr: str,
        shape: Integers,
        dtype: Dtype,
        strides: Integers,
        pointer: int,
        read_only: bool,
        stream: int | None,
    ) -> None:
        self.entries = entries
        self.version, self.typestr, self.shape, self.dtype = version, typestr, shape, dtype
        self.strides, self.pointer, self.read_only, self.stream = (
            strides,
            pointer,
            read_only,
            stream,
        )
        self.valid: HostArray | None = None
        self.owner: Any = None
        self.ignore_stream = False

    @property
    def __cuda_array_interface__(self) -> Entries:
        return dict(self.entries)


class Consumer:
    """An adapter for a library of arrays, as `runners/python/ADAPTERS.md` describes it."""

    def __init__(self) -> None:
        self._own_stream: Stream | None = None
        #: Where copies go that nobody reads.
        self.scratch: list[Memory] = []

    # What the suite calls.

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        view = self.view(exporter, self.entries(exporter))
        view.ignore_stream = ignore_stream
        view.owner = self.owner_to_keep(exporter)
        self.settle_per_thread(view)
        return view

    def describe(self, view: View) -> dict[str, Any]:
        return {
            "shape": view.shape,
            "typestr": view.typestr,
            "strides": view.strides,
            "pointer": view.pointer,
            "read_only": view.read_only,
            "stream": view.stream,
            "valid": None if view.valid is None else view.valid.ravel().tolist(),
        }

    def read(self, view: View) -> HostArray:
        """Returns the elements when all earlier work in the exported stream has finished."""
        if not math.prod(view.shape):
            return numpy.empty(view.shape, view.dtype)
        low, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        own = self.wait_for_producer(view)
        host: Any = ctypes.create_string_buffer(high - low)
        address, size = ctypes.c_uint64(view.pointer + low), ctypes.c_size_t(high - low)
        call("cuMemcpyDtoHAsync_v2", host, address, size, ctypes.c_void_p(own.handle))
        self.make_producer_wait(view, own)
        synchronize(own)
        return numpy.array(numpy.ndarray(view.shape, view.dtype, host, -low, view.strides))

    def write(self, view: View, byte: int) -> None:
        """Enqueues a write to each element and does not wait for it."""
        if view.read_only:
            raise ValueError("the data are read-only")
        self.fill(view, byte, self.wait_for_producer(view))

    def fill(self, view: View, byte: int, own: Stream) -> None:
        for offset, size_bytes in pieces(view.shape, view.strides, view.dtype.itemsize):
            fill(view.pointer + offset, byte, size_bytes, own)
        self.make_producer_wait(view, own)

    def copy(self, view: View, own: Stream) -> None:
        """Enqueues a read of each element and does not wait for it."""
        found = pieces(view.shape, view.strides, view.dtype.itemsize)
        self.scratch.append(Memory("device", max((size for _, size in found), default=0)))
        target = ctypes.c_uint64(self.scratch[-1].base)
        handle = ctypes.c_void_p(own.handle)
        for offset, size_bytes in found:
            source = ctypes.c_uint64(view.pointer + offset)
            call("cuMemcpyDtoDAsync_v2", target, source, ctypes.c_size_t(size_bytes), handle)
        self.make_producer_wait(view, own)

    def use_stream(self, stream: Stream) -> None:
        """Makes the stream the one of later operations that get none."""
        self._own_stream = stream

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        views = [self.accept(exporter, False) for exporter in exporters]
        for index, view in enumerate(views):
            own = self.wait_for_argument(index, view, stream or self.own_stream)
            if view.read_only:
                self.copy(view, own)
            else:
                self.fill(view, 0, own)
        return [self.describe(view) for view in views]

    def stream(self, kind: str) -> Stream:
        return Stream({"legacy": LEGACY, "per_thread": PER_THREAD, "default": LEGACY}.get(kind))

    def export(self, view: View) -> View:
        return view

    # How it reads the dictionary.

    def entries(self, exporter: Any) -> Entries:
        entries = exporter.__cuda_array_interface__
        if not isinstance(entries, dict):
            raise TypeError("the interface is no dict")
        missing = [name for name in REQUIRED_ENTRIES if name not in entries]
        if missing:
            raise ValueError(f"the interface has no {', '.join(missing)}")
        return dict(entries)

    def owner_to_keep(self, exporter: Any) -> Any:
        return exporter

    def view(self, exporter: Any, entries: Entries) -> View:
        version, typestr = self.version(entries), self.typestr(entries)
        shape = self.shape(entries)
        dtype = self.dtype(entries, typestr)
        pointer, read_only = self.data(entries)
        strides = self.strides(entries, shape, dtype.itemsize)
        stream = self.stream_entry(entries)
        view = View(entries, version, typestr, shape, dtype, strides, pointer, read_only, stream)
        self.check_addresses(view)
        mask = self.mask(entries) if version else None
        if mask is not None:
            view.valid = self.validity(exporter, mask, shape)
        return view

    def version(self, entries: Entries) -> int:
        version = entries["version"]
        if type(version) is not int or not 0 <= version <= 3:
            raise ValueError(f"no version: {version}")
        return version

    def typestr(self, entries: Entries) -> str:
        typestr = entries["typestr"]
        if not isinstance(typestr, str) or not _TYPESTR.fullmatch(typestr):
            raise TypeError(f"no typestr: {typestr}")
        return typestr

    def shape(self, entries: Entries) -> Integers:
        shape = entries["shape"]
        if not isinstance(shape, tuple) or any(
            type(extent) is not int or extent < 0 for extent in shape
        ):
            raise ValueError(f"no shape: {shape}")
        return shape

    def dtype(self, entries: Entries, typestr: str) -> Dtype:
        dtype = numpy.dtype(typestr)
        if dtype.itemsize == 0:  # NumPy gives arrays of |S0 one byte for each element
            raise TypeError(f"elements of no bytes: {typestr}")
        descr = entries.get("descr")
        if descr is not None and numpy.dtype(descr).itemsize != dtype.itemsize:
            raise ValueError("descr and typestr are of different sizes")
        return dtype

    def data(self, entries: Entries) -> tuple[int, bool]:
        data = entries["data"]
        if not isinstance(data, tuple) or len(data) != 2:
            raise TypeError(f"no data: {data}")
        pointer, read_only = data
        if type(pointer) is not int or not 0 <= pointer < 1 << 64 or type(read_only) is not bool:
            raise TypeError(f"no data: {data}")
        return pointer, read_only

    def strides(self, entries: Entries, shape: Integers, itemsize: int) -> Integers:
        strides = entries.get("strides")
        if strides is None:
            return c_strides(shape, itemsize)
        return self.explicit_strides(strides, shape, itemsize)

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        if not isinstance(strides, tuple) or any(type(stride) is not int for stride in strides):
            raise TypeError(f"no strides: {strides}")
        if len(strides) != len(shape):
            raise ValueError("there are not as many strides as extents")
        return strides

    def stream_entry(self, entries: Entries) -> int | None:
        stream = entries.get("stream")
        if stream is not None and (type(stream) is not int or not 0 < stream < 1 << 64):
            raise ValueError(f"no stream: {stream}")
        return stream

    def mask(self, entries: Entries) -> Any:
        return entries.get("mask")

    def validity(self, exporter: Any, mask: Any, shape: Integers) -> HostArray:
        if mask is exporter or not hasattr(mask, "__cuda_array_interface__"):
            raise TypeError("the mask is no array of its own")
        elements = self.read(self.view(mask, self.entries(mask)))
        return numpy.broadcast_to(self.is_true(elements), shape)

    def is_true(self, elements: HostArray) -> Any:
        return elements != 0

    def check_addresses(self, view: View) -> None:
        if not math.prod(view.shape):
            return
        if not view.pointer:
            raise ValueError("the pointer is 0")
        low, high = byte_range(view.shape, view.strides, view.dtype.itemsize)
        if (
            view.pointer + low < 0
            or view.pointer + high > 1 << 63
            or math.prod(view.shape) > 1 << 60
        ):
            raise OverflowError("the array reaches beyond all addresses")

    # How it orders its work.

    @property
    def own_stream(self) -> Stream:
        if self._own_stream is None:
            self._own_stream = Stream()
        return self._own_stream

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        """Returns the stream for work on the view, when it waits for the exported stream."""
        own = own or self.own_stream
        if self.uses_stream(view):
            own.wait(Event(Stream(view.stream)))
        return own

    def wait_for_argument(self, index: int, view: View, own: Stream) -> Stream:
        return self.wait_for_producer(view, own)

    def make_producer_wait(self, view: View, own: Stream) -> None:
        """Makes later work in the exported stream wait for the work in `own`."""
        if self.uses_stream(view):
            Stream(view.stream).wait(Event(own))
        elif not view.ignore_stream:
            synchronize(own)

    def settle_per_thread(self, view: View) -> None:
        """Waits for stream 2 at the import: to another thread the handle means another stream."""
        if view.stream == PER_THREAD and self.uses_stream(view):
            synchronize(Stream(PER_THREAD))

    def uses_stream(self, view: View) -> bool:
        return view.stream is not None and not view.ignore_stream


def fill(pointer: int, byte: int, size_bytes: int, stream: Stream) -> None:
    size, handle = ctypes.c_size_t(size_bytes), ctypes.c_void_p(stream.handle)
    call("cuMemsetD8Async", ctypes.c_uint64(pointer), ctypes.c_ubyte(byte), size, handle)


def synchronize(stream: Stream) -> None:
    call("cuStreamSynchronize", ctypes.c_void_p(stream.handle))
