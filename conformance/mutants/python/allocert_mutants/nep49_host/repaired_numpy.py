"""NumPy with its set-up of handlers repaired, whose attributes a mutant replaces."""

import ctypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy
from allocert import _allocert

Function: TypeAlias = Callable[..., Any]

MUTATIONS: dict[str, Callable[[Any], None]] = {}

_CAPSULE_NAME = b"mem_handler"
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.argtypes, _name_of.restype = [ctypes.py_object], ctypes.c_char_p
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
pointer_of.restype = ctypes.c_void_p
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
new_capsule.restype = ctypes.py_object

#: PyDataMem_Handler.
NAME_BYTES, VERSION, FUNCTIONS, SIZE = 127, 127, (136, 144, 152, 160), 168
#: What a handler that a host made is kept alive by.
KEPT: list[Any] = []


class Overlay:
    """An object with other attributes in place of some of it."""

    def __init__(self, behind: Any) -> None:
        self._behind = behind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)


class Host(Overlay):
    """NumPy, whose PyDataMem_SetHandler() refuses what it should."""

    #: What PyDataMem_SetHandler() looks at.
    checks: tuple[str, ...] = ("capsule", "functions", "version", "name")

    def __init__(self) -> None:
        super().__init__(numpy)
        core = numpy._core if hasattr(numpy, "_core") else numpy.core
        overlay: Any = Overlay(core)
        overlay.multiarray = Overlay(core.multiarray)
        overlay._multiarray_umath = Overlay(core._multiarray_umath)
        self._core = overlay

    @property
    def private(self) -> SimpleNamespace:
        """The functions of NumPy that a mutant replaces by attributes of this object."""
        multiarray: SimpleNamespace = self._core.multiarray
        return multiarray

    def PyDataMem_SetHandler(self, capsule: Any | None) -> Any:  # noqa: N802 - as in NumPy
        if capsule is not None:
            self._check(capsule)
        return _allocert.set_data_handler(capsule)

    def _check(self, capsule: Any) -> None:
        if "capsule" in self.checks and not _is_valid(capsule, _CAPSULE_NAME):
            raise ValueError("Capsule must be named 'mem_handler'")
        if not _is_valid(capsule, _CAPSULE_NAME):
            return
        handler = read_handler(capsule)
        if "functions" in self.checks and any(handler[at : at + 8] == bytes(8) for at in FUNCTIONS):
            raise ValueError("the handler has a function that is null")
        if "version" in self.checks and handler[VERSION] != 1:
            raise ValueError(f"the handler has the version {handler[VERSION]}")
        if "name" in self.checks and 0 not in handler[:NAME_BYTES]:
            raise ValueError("the name of the handler has no NUL")


def read_handler(capsule: Any) -> bytes:
    """The bytes of the handler in a capsule, whatever the name of the capsule."""
    return ctypes.string_at(pointer_of(capsule, _name_of(capsule)), SIZE)


def rename(capsule: Any) -> Any:
    """A capsule of the right name with the same handler."""
    return new_capsule(pointer_of(capsule, _name_of(capsule)), _CAPSULE_NAME, None)


def mutant(mutation: Callable[[Any], None]) -> Callable[[Any], None]:
    """Registers a mutation under its name."""
    MUTATIONS[mutation.__name__] = mutation
    return mutation
