"""Producers that free or keep memory and streams wrongly, abort or hang."""

import ctypes
import os
import time
import weakref
from typing import Any, ClassVar

from allocert_mutants.cuda_driver import Stream, Work, call_without_check

from .conforming_producer import Array, Entry, Producer, adapter

_read_arrays: list[Array] = []


@adapter
class KeepsArraysAlive(Array):
    """Keeps every array alive whose attribute was read."""

    def interface(self) -> Any:
        _read_arrays.append(self)
        return super().interface()


class _KeepsSomeAlive(Array):
    def interface(self) -> Any:
        if self.is_kept():
            _read_arrays.append(self)
        return super().interface()

    def is_kept(self) -> bool:
        raise NotImplementedError


@adapter
class KeepsArraysWithWork(_KeepsSomeAlive):
    """Keeps every array alive whose attribute was read while work was pending."""

    def is_kept(self) -> bool:
        return bool(self.pending_work())


@adapter
class KeepsViews(_KeepsSomeAlive):
    """Keeps every view alive whose attribute was read."""

    def is_kept(self) -> bool:
        return self.host_array.nbytes != self.memory.size_bytes


@adapter
class KeepsMaskedArrays(_KeepsSomeAlive):
    """Keeps every masked array alive whose attribute was read."""

    def is_kept(self) -> bool:
        return self.mask is not None


class _MaskOfOwner:
    def __init__(self, mask: Array, owner: Array) -> None:
        self.mask, self.owner = mask, owner

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.mask.interface()


@adapter
class MaskNamesOwner(Array):
    """Keeps the array alive through the mask in its dictionary."""

    def mask_entry(self, mask: Array) -> Entry:
        return _MaskOfOwner(mask, self)


@adapter
class DictionaryNamesOwner(Array):
    """Keeps the array alive through an entry in the dictionary."""

    def interface(self) -> Any:
        return {**super().interface(), "owner": self}


class DropsStream(Producer):
    """Does not keep the stream of pending work alive."""

    def array(self, spec: Any) -> Array:
        spec.stream = spec.stream and Stream(spec.stream.handle)
        return super().array(spec)

    def write(self, array: Any, stream: Any, byte: Any) -> None:
        super().write(array, stream and Stream(stream.handle), byte)


@adapter
class KeepsLastStreamOnly(Array):
    """Keeps the stream alive that it exported last, and lets the earlier ones go."""

    def export_stream(self, stream: Stream) -> Entry:
        self.exported_streams = [stream]
        return stream.handle


@adapter
class ExportsStreamOfFirstArray(Array):
    """Exports a stream that joins all work, and that the array exported first keeps alone."""

    first: ClassVar["weakref.ref[Stream] | None"] = None

    def stream_entry(self) -> Entry:
        if not self.pending_work():
            return None
        known = type(self).first
        stream = known() if known else None
        if stream is None:
            stream = Stream()
            type(self).first = weakref.ref(stream)
            self.export_stream(stream)
        for work in self.pending_work():
            stream.wait(work.event)
        return stream.handle


class _ViewWithStreamOfArray(Array):
    source: "weakref.ref[Array] | None" = None

    def stream_entry(self) -> Entry:
        if not self.pending_work():
            return None
        owner = (self.source() if self.source else None) or self
        if not owner.exported_streams:
            owner.export_stream(Stream())
        (stream,) = owner.exported_streams
        for work in self.pending_work():
            stream.wait(work.event)
        return stream.handle


class ExportsStreamOfViewedArray(Producer):
    """Exports a stream for a view that the array behind it alone keeps."""

    array_class: type[Array] = _ViewWithStreamOfArray

    def view(self, array: Any, way: str, value: Any) -> Any:
        made: Any = super().view(array, way, value)
        made.source = weakref.ref(array)
        return made


@adapter
class FreesAtExport(Array):
    """Frees the memory when the array is exported."""

    def interface(self) -> Any:
        entries = super().interface()
        call_without_check("cuMemFree_v2", ctypes.c_uint64(self.memory.base))
        return entries


@adapter
class UsesDestroyedStream(Array):
    """Synchronizes a stream that it has destroyed."""

    def joined_stream(self, work: list[Work]) -> Stream:
        stream = super().joined_stream(work)
        call_without_check("cuStreamDestroy_v2", ctypes.c_void_p(stream.handle))
        call_without_check("cuStreamSynchronize", ctypes.c_void_p(stream.handle))
        return stream


@adapter
class Aborts(Array):
    """Aborts the process at an array of no elements."""

    def interface(self) -> Any:
        if not self.host_array.size:
            os.abort()
        return super().interface()


@adapter
class Hangs(Array):
    """Never returns from the attribute of an array of no elements."""

    def interface(self) -> Any:
        while not self.host_array.size:
            time.sleep(1)
        return super().interface()
