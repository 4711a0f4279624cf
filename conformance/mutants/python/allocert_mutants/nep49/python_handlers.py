"""Defects that only a handler in Python can have, or that only NumPy shows."""

import atexit
import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator

from allocert import _allocert

from .conforming_handler import NAME_BYTES, Handler


@contextlib.contextmanager
def ends_with_the_block() -> Iterator[None]:
    """Overwrites its structure when the block ends."""
    handler = Handler()
    before = _allocert.set_data_handler(handler.capsule)
    try:
        yield
    finally:
        _allocert.set_data_handler(before)
        size = ctypes.sizeof(handler.structure)
        ctypes.memset(ctypes.addressof(handler.structure), 0, size)
        _ended.append(handler)


#: Somebody else's memory would be overwritten with theirs.
_ended: list[Handler] = []


class _OtherCapsuleName(Handler):
    capsule_name = b"numpy_handler"


class _RaisesInMalloc(Handler):
    def malloc(self, _context: int | None, size: int) -> int | None:
        raise OverflowError(f"no block of {size} bytes")


class _MakesArrayInCalloc(Handler):
    """It works until NumPy calls it: then the array needs the handler itself."""

    def calloc(self, context: int | None, nelem: int, elsize: int) -> int | None:
        import numpy as np

        sizes = np.zeros(2)
        sizes[:] = nelem, elsize
        return super().calloc(context, nelem, elsize)


class _MakesArrayInMalloc(Handler):
    """The array of malloc() needs another one, without end."""

    def malloc(self, context: int | None, size: int) -> int | None:
        import numpy as np

        sizes = np.empty(1)
        sizes[0] = size
        return super().malloc(context, size)


class _RaisesInRealloc(Handler):
    def realloc(self, _context: int | None, block: int | None, size: int) -> int | None:
        raise NotImplementedError("blocks have one size")


class _RaisesInFree(Handler):
    """The block is free, but ctypes prints the exception."""

    def free(self, context: int | None, block: int | None, size: int) -> None:
        super().free(context, block, size)
        raise ValueError(f"{size} bytes are not what the block has")


class _AlignsTo8(Handler):
    """A header of eight bytes before each block."""

    def malloc(self, context: int | None, size: int) -> int | None:
        block = super().malloc(context, size + 8) if size < 2**63 else None
        return block and block + 8

    def calloc(self, context: int | None, nelem: int, elsize: int) -> int | None:
        size = nelem * elsize
        block = super().calloc(context, size + 8, 1) if size < 2**63 else None
        return block and block + 8

    def realloc(self, context: int | None, block: int | None, size: int) -> int | None:
        if size >= 2**63:
            return None
        moved = super().realloc(context, block and block - 8, size + 8)
        return moved and moved + 8

    def free(self, context: int | None, block: int | None, size: int) -> None:
        super().free(context, block and block - 8, size)


class _Version0(Handler):
    def __init__(self) -> None:
        super().__init__()
        self.structure.version = 0


class _EndlessName(Handler):
    def __init__(self) -> None:
        super().__init__()
        ctypes.memset(ctypes.addressof(self.structure), ord("x"), NAME_BYTES)


class _NoFree(Handler):
    def __init__(self) -> None:
        super().__init__()
        self.structure.free = type(self.structure.free)()


class _ShutDownAtExit(Handler):
    """An exit handler of Python gives its memory up, and a later free() ends the process."""

    is_shut_down = False

    def __init__(self) -> None:
        super().__init__()
        atexit.register(self.shut_down)

    def shut_down(self) -> None:
        self.is_shut_down = True

    # Python clears the names of a module while it ends, so the function keeps this one itself.
    def free(
        self,
        context: int | None,
        block: int | None,
        size: int,
        abort: Callable[[], None] = os.abort,
    ) -> None:
        if self.is_shut_down:
            abort()
        super().free(context, block, size)


class _ForgetsRealloc(Handler):
    def malloc(self, context: int | None, size: int) -> int | None:
        structure = self.structure
        # An assignment would free the function, which others may still call.
        address = ctypes.addressof(structure) + type(structure).realloc.offset
        ctypes.memset(address, 0, ctypes.sizeof(ctypes.c_void_p))
        return super().malloc(context, size)


_handlers = [
    _OtherCapsuleName(),
    _RaisesInMalloc(),
    _MakesArrayInCalloc(),
    _MakesArrayInMalloc(),
    _RaisesInRealloc(),
    _RaisesInFree(),
    _AlignsTo8(),
    _Version0(),
    _EndlessName(),
    _NoFree(),
    _ShutDownAtExit(),
    _ForgetsRealloc(),
]
(
    other_capsule_name,
    raises_in_malloc,
    makes_array_in_calloc,
    makes_array_in_malloc,
    raises_in_realloc,
    raises_in_free,
    aligns_to_8,
    version_0,
    endless_name,
    no_free,
    shut_down_at_exit,
    forgets_realloc,
) = (handler.capsule for handler in _handlers)
