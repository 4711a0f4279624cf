"""Defects that only a handler in Python can have, or that only NumPy shows."""

from .conforming_handler import Handler


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


_handlers = [_OtherCapsuleName(), _RaisesInMalloc(), _MakesArrayInCalloc()]
other_capsule_name, raises_in_malloc, makes_array_in_calloc = (
    handler.capsule for handler in _handlers
)
