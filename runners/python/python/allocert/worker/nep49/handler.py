"""A `PyDataMem_Handler` at an address, and calls of its functions."""

import ctypes
import functools
from typing import Any

from .. import checked_memory
from ..operations import Facts
from ..recorder import Recorder

#: The bytes of a name, the NUL among them.
_NAME_BYTES = 127
_FUNCTIONS = ("malloc", "calloc", "realloc", "free")

# These hold the GIL during a call, as NumPy does. It calls realloc() alone also without the GIL.
_address, _size = ctypes.c_void_p, ctypes.c_size_t
_TYPES: dict[str, Any] = {
    "malloc": ctypes.PYFUNCTYPE(_address, _address, _size),
    "calloc": ctypes.PYFUNCTYPE(_address, _address, _size, _size),
    "realloc": ctypes.PYFUNCTYPE(_address, _address, _address, _size),
    "free": ctypes.PYFUNCTYPE(None, _address, _address, _size),
}
#: This releases the GIL during a call.
_REALLOC_WITHOUT_GIL = ctypes.CFUNCTYPE(_address, _address, _address, _size)


class TableChanged(Exception):
    """A host cannot use the structure as it could when the subject was loaded."""


class ExceptionLeft(Exception):
    """A function that has no error to report left an exception of Python behind."""


class ExceptionSet(Exception):
    """A function that returns memory set an exception of Python."""


class NullFunction(Exception):
    """Nobody can call a function that is null."""


class _Structure(ctypes.Structure):
    """`PyDataMem_Handler`."""

    _fields_ = (
        ("name", ctypes.c_ubyte * _NAME_BYTES),
        ("version", ctypes.c_uint8),
        ("ctx", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )


def handler_bytes(address: int) -> bytes:
    """The structure at an address. Raises MemoryFault if it cannot be read."""
    return checked_memory.read(address, ctypes.sizeof(_Structure))


class Handler:
    """A copy of the structure at an address. Raises MemoryFault if it cannot be read."""

    def __init__(self, address: int) -> None:
        self.address = address
        copy = self._structure = _Structure.from_buffer_copy(handler_bytes(address))
        self._name = bytes(copy.name)
        self.version: int = copy.version
        self.context: int = copy.ctx or 0
        self.functions: dict[str, Any] = {
            name: _TYPES[name](getattr(copy, name))
            for name in _FUNCTIONS
            if getattr(copy, name) is not None
        }

    def name(self) -> str | None:
        """The name, if it is UTF-8: all of its bytes where it has no end."""
        text, _, _ = self._name.partition(b"\0")
        try:
            return text.decode()
        except UnicodeDecodeError:
            return None

    def describe(self) -> Facts:
        """What the structure says."""
        return {
            "name": self.name(),
            "name_ends": b"\0" in self._name,
            "version": self.version,
            "null_functions": self.null_functions(),
            "lost_fields": self.lost_fields(),
        }

    def lost_fields(self) -> list[str]:
        """The fields that a host could use when the subject was loaded, and cannot use now.

        Those are another version, or a function that is null; all of them if the structure cannot
        be read. A handler may replace a function by another one, and change its name and its
        context.
        """
        usable = ["version", *self.functions]
        try:
            now = _Structure.from_buffer_copy(handler_bytes(self.address))
        except checked_memory.MemoryFault:
            return usable
        return [
            name
            for name in usable
            if (now.version != self.version if name == "version" else not getattr(now, name))
        ]

    def check_usable(self) -> None:
        """Raises TableChanged where a host cannot use a field any more."""
        lost = self.lost_fields()
        if lost:
            raise TableChanged(
                f"the structure PyDataMem_Handler lost {', '.join(lost)} after it was read; NumPy"
                " reads it at each call, so it must stay valid"
            )

    def null_functions(self) -> list[str]:
        """The names of the functions that are null."""
        return [name for name in _FUNCTIONS if name not in self.functions]


class HandlerCalls:
    """The functions of a handler; each call is recorded. Addresses are numbers, 0 is null."""

    def __init__(self, handler: Handler, recorder: Recorder) -> None:
        self._handler, self._recorder = handler, recorder

    def malloc(self, size: int) -> int:
        """A block, or 0."""
        return self._taking("malloc", {"size": size}, size)

    def calloc(self, nelem: int, elsize: int) -> int:
        """A block of zeros, or 0."""
        return self._taking("calloc", {"nelem": nelem, "elsize": elsize}, nelem, elsize)

    def realloc(self, block: int, size: int) -> int:
        """A block in place of one, or 0."""
        return self._taking("realloc", {"ptr": block, "new_size": size}, block, size)

    def realloc_without_gil(self, block: int, size: int) -> int:
        """The same, as NumPy calls it while it reads text."""
        function = self._function_without_gil
        return self._calling(function, "realloc", {"ptr": block, "new_size": size}, block, size)

    @functools.cached_property
    def _function_without_gil(self) -> Any:
        return ctypes.cast(self._function("realloc"), _REALLOC_WITHOUT_GIL)

    def free(self, block: int, size: int) -> None:
        """Gives a block back."""
        function, context = self._function("free"), self._handler.context
        with self._recorder.call("handler.free", {"ctx": context, "ptr": block, "size": size}):
            try:
                function(context, block, size)
            except BaseException as error:
                raise ExceptionLeft(
                    f"free() left {type(error).__name__} behind; NumPy calls it where it expects"
                    " no exception"
                ) from error

    def _taking(self, name: str, facts: Facts, *arguments: int) -> int:
        return self._calling(self._function(name), name, facts, *arguments)

    def _calling(self, function: Any, name: str, facts: Facts, *arguments: int) -> int:
        context = facts["ctx"] = self._handler.context
        with self._recorder.call(f"handler.{name}", facts):
            try:
                block: int = function(context, *arguments) or 0
            except MemoryError:  # a function that answers null may set it: NumPy raises it too
                block = 0
            except BaseException as error:
                raise ExceptionSet(
                    f"{name}() set {type(error).__name__}; NumPy looks at the address that it"
                    " returns alone, and the next statement of Python raises the exception"
                ) from error
            facts["new_ptr" if name == "realloc" else "ptr"] = block
        return block

    def _function(self, name: str) -> Any:
        try:
            return self._handler.functions[name]
        except KeyError:
            raise NullFunction(f"the handler's {name} is null, so nobody can call it") from None
