"""Hosts that call the finalizers of memory wrongly."""

import contextlib
import weakref
from collections.abc import Callable
from typing import Any

from numba.cuda.cudadrv import driver as numba_driver

from .mutant_registry import Function, around, mutant

driver = numba_driver.driver
Context = numba_driver.Context


def _replace_finalizers(change: Callable[[Function, Any], Function]) -> None:
    """Replaces every finalizer of a plugin by `change(finalizer, address of the memory)`."""
    for cls in (numba_driver.MemoryPointer, numba_driver.PinnedMemory):

        @around(cls, "__init__")
        def __init__(
            original: Function,
            self: Any,
            context: Any,
            pointer: Any,
            size: int,
            owner: Any = None,
            finalizer: Function | None = None,
        ) -> None:
            changed = None if finalizer is None else change(finalizer, pointer)
            original(self, context, pointer, size, owner=owner, finalizer=changed)


@mutant
def delays_finalizers(_host: Any) -> None:
    """Calls no finalizer before the context is reset."""
    pending: list[Function] = []
    _replace_finalizers(lambda finalizer, _pointer: lambda: pending.append(finalizer))

    @around(Context, "reset")
    def reset(original: Function, self: Any) -> None:
        while pending:
            pending.pop()()
        original(self)


@mutant
def finalizes_twice(_host: Any) -> None:
    """Calls each finalizer twice."""
    _replace_finalizers(lambda finalizer, _pointer: lambda: (finalizer(), finalizer()))


@mutant
def raises_after_finalizer(_host: Any) -> None:
    """Raises after each finalizer."""

    def change(finalizer: Function, _pointer: Any) -> Function:
        def changed() -> None:
            finalizer()
            raise RuntimeError("a queue of the host is full")

        return changed

    _replace_finalizers(change)


@mutant
def writes_after_finalizer(_host: Any) -> None:
    """Writes to memory after its finalizer has run."""

    def change(finalizer: Function, pointer: Any) -> Function:
        def changed() -> None:
            finalizer()
            # The driver refuses if the memory was freed.
            with contextlib.suppress(numba_driver.CudaAPIError):
                driver.cuMemsetD8(pointer, 0, 1)

        return changed

    _replace_finalizers(change)


@mutant
def slice_finalizes_array(_host: Any) -> None:
    """Calls the finalizer of an array at the end of its slice."""

    @around(numba_driver.MemoryPointer, "view")
    def view(original: Function, self: Any, *args: Any, **kwargs: Any) -> Any:
        part, owner = original(self, *args, **kwargs), self.owner
        weakref.finalize(part, owner._finalizer)
        return part
