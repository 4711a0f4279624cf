"""Producers that free or keep memory and streams wrongly, abort or hang."""

import ctypes
import os
import time
from typing import Any

from allocert_mutants.cuda_driver import Stream, Work, call_without_check

from .conforming_producer import Array, Entry, Producer, adapter

_read_arrays: list[Array] = []


@adapter
class KeepsArraysAlive(Array):
    """Keeps every array alive whose attribute was read."""

    def interface(self) -> Any:
        _read_arrays.append(self)
        return super().interface()


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
