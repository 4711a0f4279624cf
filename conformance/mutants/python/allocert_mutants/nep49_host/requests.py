"""Hosts that call the functions of a handler wrongly.

Such a host gives NumPy a handler of its own. That one changes the calls and passes them on to the
handler that was installed.
"""

import ctypes
from typing import Any

from allocert import _allocert

from .repaired_numpy import FUNCTIONS, KEPT, SIZE, mutant, new_capsule, read_handler

_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_size_t
_TYPES = {
    "malloc": ctypes.CFUNCTYPE(_POINTER, _POINTER, _COUNT),
    "calloc": ctypes.CFUNCTYPE(_POINTER, _POINTER, _COUNT, _COUNT),
    "realloc": ctypes.CFUNCTYPE(_POINTER, _POINTER, _POINTER, _COUNT),
    "free": ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _COUNT),
}
_libc = ctypes.CDLL(None)
_libc.malloc.argtypes, _libc.malloc.restype = [_COUNT], _POINTER
_libc.free.argtypes, _libc.free.restype = [_POINTER], None
_libc.realloc.argtypes, _libc.realloc.restype = [_POINTER, _COUNT], _POINTER


class Requests:
    """A mutant overrides the functions that it breaks. The others stay those of the handler."""

    def __init__(self, handler: bytes) -> None:
        context = int.from_bytes(handler[128:136], "little")
        for place, (name, kind) in zip(FUNCTIONS, _TYPES.items(), strict=True):
            function = kind(int.from_bytes(handler[place : place + 8], "little"))
            setattr(self, f"inner_{name}", _bound(function, context))

    inner_malloc: Any
    inner_calloc: Any
    inner_realloc: Any
    inner_free: Any


def _bound(function: Any, context: int) -> Any:
    return lambda *arguments: function(context, *arguments)


def distort(host: Any, kind: type[Requests]) -> None:
    """Lets the host make its requests through an object of this class.

    Its arrays keep NumPy's capsule, and not the one that was installed.
    """
    own = host.PyDataMem_SetHandler
    given: dict[str, Any] = {}

    def set_handler(capsule: Any) -> Any:
        before = given.get("capsule") or _allocert.default_data_handler()
        own(capsule and _wrapped(capsule, kind))
        given["capsule"] = capsule
        return before

    host.PyDataMem_SetHandler = set_handler


def _wrapped(capsule: Any, kind: type[Requests]) -> Any:
    handler = read_handler(capsule)
    requests = kind(handler)
    described = bytearray(handler)
    for place, (name, function) in zip(FUNCTIONS, _TYPES.items(), strict=True):
        # A function in Python loses a pending exception, so there are as few as can be.
        if not hasattr(requests, name):
            continue
        callback = function(getattr(requests, name))
        address = ctypes.cast(callback, _POINTER).value or 0
        described[place : place + 8] = address.to_bytes(8, "little")
        KEPT.append(callback)
    changed = ctypes.create_string_buffer(bytes(described), SIZE)
    KEPT.extend((requests, changed))
    return new_capsule(ctypes.addressof(changed), b"mem_handler", None)


def _mutant(kind: type[Requests]) -> type[Requests]:
    """Registers a class as the mutant of its name in lower case."""
    name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__)

    def mutation(host: Any) -> None:
        distort(host, kind)

    mutation.__name__ = name.lstrip("_")
    mutant(mutation)
    return kind


@_mutant
class AsksWhoIsInstalled(Requests):
    """Frees and resizes with libc where another handler is installed now."""

    def _is_installed(self) -> bool:
        return _allocert.get_data_handler() is not _allocert.default_data_handler()

    def realloc(self, _context: Any, block: Any, size: int) -> Any:
        return (
            self.inner_realloc(block, size) if self._is_installed() else _libc.realloc(block, size)
        )

    def free(self, _context: Any, block: Any, size: int) -> None:
        if self._is_installed():
            self.inner_free(block, size)
        else:
            _libc.free(block)


@_mutant
class FreesLate(Requests):
    """Frees a block when it asks for the next one."""

    def __init__(self, handler: bytes) -> None:
        super().__init__(handler)
        self._late: list[tuple[Any, int]] = []

    def malloc(self, _context: Any, size: int) -> Any:
        while self._late:
            self.inner_free(*self._late.pop())
        return self.inner_malloc(size)

    def free(self, _context: Any, block: Any, size: int) -> None:
        self._late.append((block, size))


@_mutant
class KeepsSmallBlocks(Requests):
    """Never frees blocks of fewer than 64 bytes."""

    def free(self, _context: Any, block: Any, size: int) -> None:
        if size >= 64:
            self.inner_free(block, size)


@_mutant
class AsksForNothing(Requests):
    """Asks for no bytes for an array without elements."""

    def malloc(self, _context: Any, size: int) -> Any:
        return self.inner_malloc(size - 1 if size == 1 else size)


@_mutant
class AsksForLess(Requests):
    """Asks for one byte less than the data have."""

    def malloc(self, _context: Any, size: int) -> Any:
        return self.inner_malloc(size - 1 if size > 100 else size)


@_mutant
class ZeroesItself(Requests):
    """Asks for zeros with malloc() and writes them itself."""

    def calloc(self, _context: Any, nelem: int, elsize: int) -> Any:
        block = self.inner_malloc(nelem * elsize)
        if block:
            ctypes.memset(block, 0, nelem * elsize)
        return block


@_mutant
class ZeroesNothing(Requests):
    """Takes any memory for an array of zeros."""

    def calloc(self, _context: Any, nelem: int, elsize: int) -> Any:
        block = self.inner_calloc(nelem, elsize)
        if block:
            ctypes.memset(block, 7, nelem * elsize)
        return block


@_mutant
class ResizesByNewBlock(Requests):
    """Resizes with malloc() and free(), and copies nothing."""

    def realloc(self, _context: Any, block: Any, size: int) -> Any:
        new = self.inner_malloc(size)
        if new:
            self.inner_free(block, size)
        return new


@_mutant
class FreesTwice(Requests):
    """Frees each block twice."""

    def free(self, _context: Any, block: Any, size: int) -> None:
        self.inner_free(block, size)
        self.inner_free(block, size)


@_mutant
class FreesForeignBlocks(Requests):
    """Takes memory from libc and frees it with the handler."""

    def malloc(self, _context: Any, size: int) -> Any:
        return _libc.malloc(size)


@_mutant
class ForgetsSizes(Requests):
    """Tells free() that every block has one byte more."""

    def free(self, _context: Any, block: Any, size: int) -> None:
        self.inner_free(block, size + 1)


@_mutant
class FreesNull(Requests):
    """Frees null before each block."""

    def free(self, _context: Any, block: Any, size: int) -> None:
        self.inner_free(None, size)
        self.inner_free(block, size)


@_mutant
class ForgetsCapsules(Requests):
    """Keeps no capsule of a handler whose arrays live."""
