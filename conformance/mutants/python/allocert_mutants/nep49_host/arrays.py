"""Hosts whose arrays do not do what they should."""

import contextlib
import ctypes
import math
from types import SimpleNamespace
from typing import Any

import numpy

from .repaired_numpy import KEPT, mutant

_DOMAIN = 389047


def _make(host: Any, kind: type[numpy.ndarray[Any, Any]]) -> None:
    """Makes array() and empty() return arrays of a class."""

    def array(*arguments: Any) -> Any:
        source = numpy.array(*arguments)
        made: Any = kind(source.shape, source.dtype)
        made[...] = source
        return made

    host.array = array


@mutant
def grows_with_garbage(host: Any) -> None:
    """Fills what resize() adds with 7."""

    class Array(numpy.ndarray[Any, Any]):
        def resize(self, *shape: Any, **options: Any) -> None:
            before = self.size
            super().resize(*shape, **options)
            self.reshape(-1)[before:] = 7

    _make(host, Array)


@mutant
def empties_before_resize(host: Any) -> None:
    """Clears an array before resize() asks for memory."""

    class Array(numpy.ndarray[Any, Any]):
        def resize(self, *shape: Any, **options: Any) -> None:
            kept = self.tolist()
            self[...] = 0
            super().resize(*shape, **options)
            count = min(len(kept), self.size)
            self.reshape(-1)[:count] = kept[:count]

    _make(host, Array)


@mutant
def sort_overlooks_failure(host: Any) -> None:
    """Leaves an array as it is where sort() finds no memory."""

    class Array(numpy.ndarray[Any, Any]):
        def sort(self, *arguments: Any, **options: Any) -> None:
            with contextlib.suppress(MemoryError):
                super().sort(*arguments, **options)

    _make(host, Array)


@mutant
def wrong_after_failure(host: Any) -> None:
    """Once a list found no memory, the arrays of later lists begin with 0."""
    failed = False

    def array(*arguments: Any) -> Any:
        nonlocal failed
        try:
            made = numpy.array(*arguments)
        except MemoryError:
            failed = True
            raise
        if failed:
            made.flat[0] = 0
        return made

    host.array = array


@mutant
def copies_buffers(host: Any) -> None:
    """Copies memory that somebody else owns."""
    host.frombuffer = lambda *arguments: numpy.frombuffer(*arguments).copy()


@mutant
def overlooks_missing_memory(host: Any) -> None:
    """Makes an array of its own memory where the handler has none."""

    def zeros(shape: Any, dtype: Any) -> Any:
        try:
            return numpy.zeros(shape, dtype)
        except MemoryError:
            count = math.prod(shape)
            return numpy.frombuffer(bytes(count * dtype.itemsize), dtype).reshape(shape)

    host.zeros = zeros


@mutant
def hides_from_tracemalloc(host: Any) -> None:
    """Takes the data of empty() out of what tracemalloc knows."""
    untrack = ctypes.pythonapi.PyTraceMalloc_Untrack
    untrack.argtypes = [ctypes.c_uint, ctypes.c_size_t]

    def empty(*arguments: Any) -> Any:
        array = numpy.empty(*arguments)
        untrack(_DOMAIN, array.__array_interface__["data"][0])
        return array

    host.empty = empty


@mutant
def traces_failures(host: Any) -> None:
    """Tells tracemalloc of data that it did not get."""
    track = ctypes.pythonapi.PyTraceMalloc_Track
    track.argtypes = [ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t]

    def empty(*arguments: Any) -> Any:
        try:
            return numpy.empty(*arguments)
        except MemoryError:
            track(_DOMAIN, 64, 1)
            raise

    host.empty = empty


@mutant
def resizes_without_handler(host: Any) -> None:
    """Does nothing where an array without a handler is resized."""

    class Array(numpy.ndarray[Any, Any]):
        def resize(self, *shape: Any, **options: Any) -> None:
            with contextlib.suppress(RuntimeError):
                super().resize(*shape, **options)

    host.frombuffer = lambda *arguments: numpy.frombuffer(*arguments).view(Array)


@mutant
def writes_behind(host: Any) -> None:
    """Writes one byte behind the data of an array that it sums."""

    class Array(numpy.ndarray[Any, Any]):
        def sum(self, *arguments: Any, **options: Any) -> Any:
            ctypes.memset(self.__array_interface__["data"][0] + self.nbytes, 7, 1)
            return super().sum(*arguments, **options)

    _make(host, Array)


@mutant
def views_keep_nothing(host: Any) -> None:
    """Frees the data of an array that ends, whatever views it has."""

    class Array(numpy.ndarray[Any, Any]):
        def view(self, *_arguments: Any) -> Any:  # type: ignore[override]
            address = self.__array_interface__["data"][0]
            memory = (ctypes.c_char * self.nbytes).from_address(address)
            return numpy.frombuffer(memoryview(memory), self.dtype)

    _make(host, Array)


@mutant
def keeps_owners(host: Any) -> None:
    """Never gives up an object whose memory an array describes."""

    def frombuffer(memory: Any, *arguments: Any) -> Any:
        KEPT.append(memory)
        return numpy.frombuffer(memory, *arguments)

    host.frombuffer = frombuffer


@mutant
def calls_everything_aligned(host: Any) -> None:
    """Says of every array that it is aligned."""

    class Array(numpy.ndarray[Any, Any]):
        @property
        def flags(self) -> Any:
            return SimpleNamespace(aligned=True, owndata=super().flags.owndata)

    _make(host, Array)
    host.empty = Array
