"""Capsules: Python objects that hold an address under a name."""

import ctypes
import datetime
from typing import Any

from ..safe_text import bounded

#: The type of every capsule; `types` has it only from Python 3.13 on.
TYPE = type(datetime.datetime_CAPI)

#: The name that NumPy asks for. A capsule keeps the address of its name.
_NAME = ctypes.create_string_buffer(b"mem_handler")

#: A table of functions of its own: the subject may set the types of those in `ctypes.pythonapi`.
_python = ctypes.PyDLL(None)
_new = _python.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, (ctypes.c_void_p,) * 3
_name = _python.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_void_p, (ctypes.py_object,)
_pointer = _python.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_void_p)


def named(address: int) -> Any:
    """A capsule that holds the address under the name that NumPy asks for."""
    return _new(address, ctypes.addressof(_NAME), None)


def name_of(capsule: Any) -> str | None:
    """The name of a capsule; one may have none."""
    address = _name(capsule)
    if address is None:
        return None
    return bounded(ctypes.string_at(address).decode("utf-8", "backslashreplace"), 200)


def pointer_of(capsule: Any) -> int:
    """The address that a capsule holds, whatever its name."""
    address: int = _pointer(capsule, _name(capsule))
    return address
