"""Handlers of NumPy's data allocation (NEP 49) for daily work.

    import allocert.numpy

    with allocert.numpy.installed():
        samples = np.zeros((1000, 1000))   # aligned to 64 bytes, and counted
    print(allocert.numpy.stats().peak_bytes)

An array keeps the handler that made it, so it may outlive the ``with`` block. NumPy has a handler
for each context (``contextvars``): a new thread starts with NumPy's own handler, an asyncio task
with that of the code that made it. NumPy 1.22 or later is needed.

``handler()`` is the handler of ordinary memory. Each array begins at a multiple of 64 bytes. A
thread keeps some freed blocks for its next arrays: 7 of each small size, and up to 2 MiB of larger
ones. A header finds memory that NumPy gives back twice, or that the handler did not give; the
handler says so on stderr and leaves that memory alone.

``pinned()`` is the handler of page-locked memory (``cuMemHostAlloc``), which a GPU reads and writes
without a copy in between. It needs a CUDA driver and a device. Each block is a call of the driver,
so use it for large arrays that stay. Keep an array until the copies of its data have ended. The
memory belongs to the primary context of the device, and is gone if somebody resets that context;
an array may be dropped at any time nevertheless, also while the process ends. CUDA is not made for
children of ``fork``: use another handler there.
"""

import contextlib
import contextvars
import ctypes
import functools
import os
from typing import NamedTuple

from . import _allocert
from ._allocert import DriverError

__all__ = [
    "DriverError",
    "Stats",
    "handler",
    "install",
    "installed",
    "library",
    "pinned",
    "stats",
    "uninstall",
]

#: What NumPy used before each `install()` of the context that is not undone yet.
_before: contextvars.ContextVar[tuple[object, ...]] = contextvars.ContextVar(
    "allocert_numpy_before", default=()
)


class Stats(NamedTuple):
    """What a handler did since the process began, on all threads.

    The numbers are exact while no other thread makes or drops an array.
    """

    #: Blocks in use: one for each array that owns its data.
    blocks: int
    #: Bytes of these blocks, as NumPy asked for them.
    bytes: int
    #: The most bytes in use so far. For ``handler()`` each thread may add or leave out 1 MiB.
    peak_bytes: int
    #: Calls that gave a block.
    malloc: int
    #: Calls that gave a block of zeros.
    calloc: int
    #: Calls that gave a block in place of another.
    realloc: int
    #: Calls that took a block.
    free: int
    #: Calls that found no memory.
    failed: int
    #: Calls with memory that the handler did not give, or had got back before.
    refused: int


@functools.cache
def handler() -> object:
    """The capsule ``mem_handler`` of the handler of ordinary memory, the same one at each call."""
    return _allocert.reference_handler()


@functools.cache
def pinned(device: int = 0) -> object:
    """The capsule of the handler of page-locked memory, the same one at each call.

    ``device`` is the number of the device whose primary context owns the memory; every context can
    use it. The call initialises CUDA. Raises DriverError where there is no driver or no such
    device.
    """
    return _allocert.pinned_handler(device)


@functools.cache
def library(path: str | os.PathLike[str], symbol: str = "allocert_nep49_handler") -> object:
    """The capsule of a handler that a shared library exports, the same one at each call.

    ``symbol`` is the name of a ``PyDataMem_Handler``. The library stays loaded. So NumPy can use a
    handler that the suite certifies, and the suite can certify it with NumPy::

        # mymodule.py, for: allocert run nep49 mymodule:handler
        handler = allocert.numpy.library("./libmine.so")

    Raises OSError for what cannot be loaded, and ValueError for a library without the symbol.
    """
    loaded = ctypes.CDLL(os.fspath(path))
    try:
        first_byte = ctypes.c_char.in_dll(loaded, symbol)
    except ValueError:
        raise ValueError(f"{path}: has no symbol {symbol}") from None
    return _new_capsule(ctypes.addressof(first_byte), b"mem_handler", None)


_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


def install(capsule: object | None = None) -> None:
    """Makes NumPy use a handler for the next arrays of this context: ``handler()``, or a capsule.

    Raises ValueError for what is no capsule ``mem_handler``.
    """
    if capsule is not None and type(capsule).__name__ != "PyCapsule":
        raise ValueError(
            f"{capsule!r:.100} is no handler: install() takes a capsule `mem_handler`, such as"
            " pinned() or library(path), or nothing for handler()"
        )
    previous = _allocert.set_data_handler(handler() if capsule is None else capsule)
    _before.set((*_before.get(), previous))


def uninstall() -> None:
    """Undoes the last ``install()`` of this context: NumPy uses the handler before it again.

    Raises RuntimeError if there is none.
    """
    *earlier, previous = _before.get() or (None,)
    if previous is None:
        raise RuntimeError("no handler to uninstall: install() was not called in this context")
    _allocert.set_data_handler(previous)
    _before.set(tuple(earlier))


class _Installed(contextlib.ContextDecorator):
    """A block in which NumPy uses a handler."""

    def __init__(self, capsule: object | None) -> None:
        self._capsule = capsule
        #: What NumPy used before the block, and the entry of `_before`; None before it is entered.
        self._outside: tuple[object, tuple[object, ...]] | None = None

    def _recreate_cm(self) -> "_Installed":  # what `ContextDecorator` enters at each call
        return _Installed(self._capsule)

    def __enter__(self) -> None:
        if self._outside is not None:
            raise RuntimeError(
                "this installed() was entered before: call installed() again for each `with` block"
            )
        before = _before.get()
        install(self._capsule)
        self._outside = (_before.get()[-1], before)

    def __exit__(self, *_: object) -> None:
        if self._outside is None:
            raise RuntimeError("this installed() was not entered")
        previous, before = self._outside
        _allocert.set_data_handler(previous)
        _before.set(before)


def installed(capsule: object | None = None) -> _Installed:
    """``install()``, and when the block is left, the handler before it again. Blocks may nest.

    The end of the block also ends each ``install()`` and ``uninstall()`` inside it. Call
    ``installed()`` again for each block.
    """
    return _Installed(capsule)


def stats(capsule: object | None = None) -> Stats:
    """What ``handler()`` did so far, or the handler of a capsule of this module.

    Raises ValueError for a handler of somebody else.
    """
    return Stats(*_allocert.handler_statistics(handler() if capsule is None else capsule))
