"""Consumers that refuse arrays which they do not support, each with an exception of its own."""

from typing import Any

from allocert_mutants.cai_consumer.conforming_consumer import Consumer, Entries, HostArray, View
from allocert_mutants.cai_consumer.offset_helpers import Integers, c_strides


class UnsupportedError(Exception):
    """The library does not support the array."""


class VectorsAndMatrices(Consumer):
    """Takes vectors and matrices of float32 in C order, without a mask and streams 1 and 2."""

    error: type[Exception] = ValueError

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        contiguous = view.strides == c_strides(view.shape, view.dtype.itemsize)
        supported = (
            view.typestr == "<f4"
            and len(view.shape) in (1, 2)
            and all(view.shape)
            and contiguous
            and view.valid is None
            and view.stream not in (1, 2)
            and entries["version"] == 3
        )
        if not supported:
            raise self.error("only vectors and matrices of float32")
        return view


class RefusesWithNotImplementedError(VectorsAndMatrices):
    """As VectorsAndMatrices, with NotImplementedError."""

    error = NotImplementedError


class RefusesWithOwnError(VectorsAndMatrices):
    """As VectorsAndMatrices, with a class of its own."""

    error = UnsupportedError


class RefusesAtUse(Consumer):
    """Takes every array, and refuses those that it does not support when they are used."""

    def read(self, view: View) -> HostArray:
        self.check(view)
        return super().read(view)

    def write(self, view: View, byte: int) -> None:
        self.check(view)
        super().write(view, byte)

    def check(self, view: View) -> None:
        if view.typestr != "<f4" or len(view.shape) != 1:
            raise UnsupportedError("only vectors of float32")


class NeverWrites(Consumer):
    """Has no operation that writes to an imported array."""

    def write(self, view: View, byte: int) -> None:
        raise TypeError("arrays are immutable")

    def fill(self, view: View, byte: int, own: Any) -> None:
        self.make_producer_wait(view, own)


class RefusesStreams(Consumer):
    """Refuses an array with a stream."""

    def stream_entry(self, entries: Entries) -> int | None:
        stream = super().stream_entry(entries)
        if stream is not None:
            raise BufferError("arrays with a stream")
        return stream


class NeedsOptionalEntries(Consumer):
    """Refuses a dictionary without strides or without a stream."""

    def view(self, exporter: Any, entries: Entries) -> View:
        if "strides" not in entries or "stream" not in entries:
            raise KeyError("strides, stream")
        return super().view(exporter, entries)


class RefusesMasks(Consumer):
    """Refuses a mask, as Numba does, and takes None."""

    def mask(self, entries: Entries) -> Any:
        if entries.get("mask") is not None:
            raise NotImplementedError("masked arrays")
        return None


class RefusesReadOnly(Consumer):
    """Refuses read-only data, because it cannot keep anybody from writing them."""

    def data(self, entries: Entries) -> tuple[int, bool]:
        pointer, read_only = super().data(entries)
        if read_only:
            raise BufferError("read-only data")
        return pointer, read_only


class RefusesGaps(Consumer):
    """Refuses an array or a mask that is not in C order without gaps."""

    def explicit_strides(self, strides: Any, shape: Integers, itemsize: int) -> Integers:
        found = super().explicit_strides(strides, shape, itemsize)
        if found != c_strides(shape, itemsize) and 0 not in shape:
            raise UnsupportedError("only contiguous arrays")
        return found


class _Unread:
    """An imported object whose attribute nobody has read yet."""

    def __init__(self, exporter: Any, ignore_stream: bool) -> None:
        self.exporter, self.ignore_stream = exporter, ignore_stream

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.exporter.__cuda_array_interface__


class LooksAtUse(Consumer):
    """Reads the attribute of an object when it uses the import, and knows nothing before."""

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        return _Unread(exporter, ignore_stream)

    def describe(self, view: Any) -> dict[str, Any]:
        return {}

    def read(self, view: Any) -> HostArray:
        return super().read(self.looked_at(view))

    def write(self, view: Any, byte: int) -> None:
        super().write(self.looked_at(view), byte)

    def looked_at(self, view: Any) -> Any:
        """The view itself, once its attribute was read. A mask is one at once."""
        return super().accept(view.exporter, view.ignore_stream) if type(view) is _Unread else view

    def launch(self, exporters: list[Any], stream: Any) -> Any:
        raise NotImplementedError("there is nothing to launch")
