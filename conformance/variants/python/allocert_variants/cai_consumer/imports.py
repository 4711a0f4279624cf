"""Consumers that import arrays in other ways than the reference."""

import copy
import ctypes
import math
from typing import Any

import numpy
from allocert_mutants.cai_consumer.conforming_consumer import (
    Consumer,
    Entries,
    HostArray,
    View,
    fill,
    synchronize,
)
from allocert_mutants.cai_consumer.fields import TakesFields
from allocert_mutants.cai_consumer.offset_helpers import c_strides, offsets
from allocert_mutants.cai_consumer.stream_order import StreamForEachArgument
from allocert_mutants.cuda_driver import LEGACY, PER_THREAD, Event, Memory, Stream, call, upload

from .. import kernel
from ..current_context import leaves_no_context_current


class Copies(Consumer):
    """Copies every array into memory of its own, in C order and in the machine's byte order."""

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        source = super().accept(exporter, ignore_stream)
        elements = self.converted(super().read(source))
        copied = numpy.ascontiguousarray(elements).reshape(elements.shape)
        memory = Memory("device", copied.nbytes)
        if copied.nbytes:
            upload(memory.base, copied.ctypes.data, copied.nbytes)
        pointer = memory.base if copied.size else 0
        typestr = copied.dtype.str if copied.dtype.kind != "V" else source.typestr
        entries: Entries = {
            "shape": source.shape,
            "typestr": typestr,
            "data": (pointer, False),
            "version": 3,
        }
        if source.valid is not None:
            entries["mask"] = source.entries["mask"]
        strides = c_strides(source.shape, copied.dtype.itemsize)
        view = View(
            entries, 3, typestr, source.shape, copied.dtype, strides, pointer, False, None
        )  # fmt: skip
        view.valid, view.owner = source.valid, (memory, exporter)
        return view

    def describe(self, view: View) -> dict[str, Any]:
        described = super().describe(view)
        # Those of the copy say nothing of the array that was copied.
        del described["strides"], described["pointer"]
        return described

    def converted(self, elements: HostArray) -> HostArray:
        return elements.astype(elements.dtype.newbyteorder("="))

    def write(self, view: View, byte: int) -> None:
        raise NotImplementedError("an import is a copy")

    def fill(self, view: View, byte: int, own: Stream) -> None:
        self.make_producer_wait(view, own)


class WorksOnManyStreams(StreamForEachArgument):
    """Works on each argument of a launch in another stream."""


class TakesFieldsFromDescr(TakesFields):
    """Takes the fields of an element from `descr`."""


class OneEvent(Consumer):
    """Records one event again and again, and lets a stream wait for each record at once."""

    def __init__(self) -> None:
        super().__init__()
        self.event: Event | None = None

    def order(self, before: Stream, after: Stream) -> None:
        self.event = self.event or Event(before)
        self.event.record(before)
        after.wait(self.event)

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        own = own or self.own_stream
        if self.uses_stream(view):
            self.order(Stream(view.stream), own)
        return own

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if self.uses_stream(view):
            self.order(own, Stream(view.stream))
        else:
            super().make_producer_wait(view, own)


class ReadsAttributeForEachOperation(Consumer):
    """Reads the attribute for each operation anew, and uses nothing of the readings before."""

    def read_again(self, view: View) -> View:
        if view.owner is None:
            return view
        again = self.view(view.owner, self.entries(view.owner))
        again.ignore_stream = view.ignore_stream
        return again

    def read(self, view: View) -> HostArray:
        return super().read(self.read_again(view))

    def write(self, view: View, byte: int) -> None:
        super().write(self.read_again(view), byte)


class WaitsAtImport(Consumer):
    """Waits on the host at the import, and leaves the order of later work to its user."""

    def view(self, exporter: Any, entries: Entries) -> View:
        view = super().view(exporter, entries)
        if view.stream is not None:
            synchronize(Stream(view.stream))
        return view

    def export(self, view: View) -> View:
        synchronize(self.own_stream)
        return view

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        return own or self.own_stream

    def make_producer_wait(self, view: View, own: Stream) -> None:
        pass

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        described = super().launch(exporters, stream)
        synchronize(stream or self.own_stream)
        return described


class WorksOnExportedStream(Consumer):
    """Does all its work on the exported stream."""

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        if not self.uses_stream(view):
            return super().wait_for_producer(view, own)
        exported = Stream(view.stream)
        if own is not None and own is not self.own_stream:
            exported.wait(Event(own))
        return exported

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if not self.uses_stream(view):
            super().make_producer_wait(view, own)


class WaitsOnHost(Consumer):
    """Waits on the host for the exported stream before an operation, and for itself after it."""

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        if self.uses_stream(view):
            synchronize(Stream(view.stream))
        return own or self.own_stream

    def make_producer_wait(self, view: View, own: Stream) -> None:
        synchronize(own)


class GathersStrided(Consumer):
    """Gathers an array with gaps in contiguous memory of its own, and uses only that afterwards."""

    def read(self, view: View) -> HostArray:
        packed = c_strides(view.shape, view.dtype.itemsize)
        if view.strides == packed:
            return super().read(view)
        own, itemsize = self.wait_for_producer(view), view.dtype.itemsize
        places = list(offsets(view.shape, view.strides))
        memory = Memory("device", len(places) * itemsize)
        size, handle = ctypes.c_size_t(itemsize), ctypes.c_void_p(own.handle)
        for number, place in enumerate(places):
            target = ctypes.c_uint64(memory.base + number * itemsize)
            source = ctypes.c_uint64(view.pointer + place)
            call("cuMemcpyDtoDAsync_v2", target, source, size, handle)
        # The producer may go on while the copy is read.
        self.make_producer_wait(view, own)
        gathered = copy.copy(view)
        gathered.pointer, gathered.strides, gathered.stream = memory.base, packed, own.handle
        elements = super().read(gathered)
        del memory
        return elements


class OrdersThroughHelperStream(Consumer):
    """Waits in a helper stream for the exported one, and lets that wait for the helper stream."""

    def __init__(self) -> None:
        super().__init__()
        self.helper: Stream | None = None

    def order(self, before: Stream, after: Stream) -> None:
        self.helper = self.helper or Stream()
        self.helper.wait(Event(before))
        after.wait(Event(self.helper))

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        own = own or self.own_stream
        if self.uses_stream(view):
            self.order(Stream(view.stream), own)
        return own

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if self.uses_stream(view):
            self.order(own, Stream(view.stream))
        else:
            super().make_producer_wait(view, own)


class WaitsOnHostForStrided(Consumer):
    """Waits on the host for arrays with gaps, and lets streams wait for all others."""

    def is_strided(self, view: View) -> bool:
        return view.strides != c_strides(view.shape, view.dtype.itemsize)

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        if self.is_strided(view) and self.uses_stream(view):
            synchronize(Stream(view.stream))
            return own or self.own_stream
        return super().wait_for_producer(view, own)

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if self.is_strided(view):
            synchronize(own)
        else:
            super().make_producer_wait(view, own)


class WaitsForOwnStream(Consumer):
    """Waits for its own stream at each import, also with the option to ignore the exported one."""

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        synchronize(self.own_stream)
        return super().accept(exporter, ignore_stream)


class KeepsNoOwner(Consumer):
    """Documents that an import does not keep the producer's object alive."""

    keeps_owner = False

    def owner_to_keep(self, exporter: Any) -> Any:
        return None


class SynchronizesContextAtImport(WaitsAtImport):
    """Waits for everything in the context at the import, whatever the stream is."""

    def view(self, exporter: Any, entries: Entries) -> View:
        call("cuCtxSynchronize")
        return super().view(exporter, entries)


class StreamOfEachOperation(Consumer):
    """Makes a stream for each operation, which waits for the exported one."""

    def __init__(self) -> None:
        super().__init__()
        self.streams: list[Stream] = []

    @property
    def own_stream(self) -> Stream:
        self.streams.append(Stream())
        return self.streams[-1]

    def use_stream(self, stream: Stream) -> None:
        raise NotImplementedError("there is no current stream")


class WritesMaskedOnly(Consumer):
    """Has masks, and writes only elements that are valid."""

    def fill(self, view: View, byte: int, own: Stream) -> None:
        if view.valid is None:
            super().fill(view, byte, own)
            return
        places, valid = offsets(view.shape, view.strides), view.valid.ravel().tolist()
        for offset in (place for place, is_valid in zip(places, valid, strict=True) if is_valid):
            fill(view.pointer + offset, byte, view.dtype.itemsize, own)
        self.make_producer_wait(view, own)


@leaves_no_context_current("accept", "describe", "read", "write", "use_stream", "launch", "stream")
class LeavesNoContext(Consumer):
    """Leaves no context current after each call."""


class ExportsCopies(Consumer):
    """Exports a copy of an import."""

    def export(self, view: View) -> View:
        elements = self.read(view)
        copied = numpy.ascontiguousarray(elements).reshape(elements.shape)
        memory = Memory("device", copied.nbytes)
        if copied.nbytes:
            upload(memory.base, copied.ctypes.data, copied.nbytes)
        own = ("stream", "strides")
        entries = {key: value for key, value in view.entries.items() if key not in own}
        exported = copy.copy(view)
        exported.entries = {
            **entries,
            "data": (memory.base if copied.size else 0, False),
            "version": 3,
        }
        exported.owner = memory
        return exported


def newest_entries(view: View, stream: int | None) -> Entries:
    """The entries of version 3 for an import of any version."""
    pointer = view.pointer if math.prod(view.shape) else 0
    return {
        **view.entries,
        "data": (pointer, view.read_only),
        "stream": stream,
        "version": 3,
    }


class ExportsOwnStream(Consumer):
    """Exports an import with its own stream, which waits for the given one."""

    def export(self, view: View) -> View:
        exported, own = copy.copy(view), self.wait_for_producer(view)
        exported.entries = newest_entries(view, own.handle)
        return exported


class WaitsAtExport(Consumer):
    """Waits before it exports an import, and exports no stream."""

    def export(self, view: View) -> View:
        exported = copy.copy(view)
        synchronize(self.wait_for_producer(view))
        exported.entries = newest_entries(view, None)
        return exported


class ExportsRowMajorOnly(Consumer):
    """Raises AttributeError for the export of an array whose elements are not in C order."""

    def export(self, view: View) -> Any:
        row_major = view.strides == c_strides(view.shape, view.dtype.itemsize)
        return super().export(view) if row_major else object()


class LegacyStreamFollowsBlocking(Consumer):
    """Works in the legacy stream, and orders nothing with streams that it follows by itself."""

    @property
    def own_stream(self) -> Stream:
        return self._own_stream or Stream(LEGACY)

    def follows(self, view: View, own: Stream) -> bool:
        if own.handle != LEGACY or view.stream is None or view.stream == PER_THREAD:
            return False
        flags, of_stream, current = ctypes.c_uint(1), ctypes.c_void_p(), ctypes.c_void_p()
        handle = ctypes.c_void_p(view.stream)
        call("cuStreamGetFlags", handle, ctypes.byref(flags))
        call("cuStreamGetCtx", handle, ctypes.byref(of_stream))
        call("cuCtxGetCurrent", ctypes.byref(current))
        return flags.value == 0 and of_stream.value == current.value

    def wait_for_producer(self, view: View, own: Stream | None = None) -> Stream:
        own = own or self.own_stream
        return own if self.follows(view, own) else super().wait_for_producer(view, own)

    def make_producer_wait(self, view: View, own: Stream) -> None:
        if view.ignore_stream or not self.follows(view, own):
            super().make_producer_wait(view, own)


class LaunchesOnExportedStreams(Consumer):
    """Launches a kernel for each argument, in the stream that this argument exports."""

    def launch(self, exporters: list[Any], stream: Stream | None) -> list[dict[str, Any]]:
        views = [self.accept(exporter, False) for exporter in exporters]
        for view in views:
            if 0 not in view.shape:
                self.launch_kernel(view, stream)
        return [self.describe(view) for view in views]

    def launch_kernel(self, view: View, stream: Stream | None) -> None:
        """The kernel comes between earlier and later work of the given stream, too."""
        exported = Stream(view.stream) if view.stream else stream or self.own_stream
        if stream is not None and view.stream:
            exported.wait(Event(stream))
        kernel.launch(ctypes.c_void_p(exported.handle), view.pointer)
        if stream is not None and view.stream:
            stream.wait(Event(exported))
        if not view.stream:
            synchronize(exported)
