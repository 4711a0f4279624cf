"""The handlers of the worker: copies of one that records, with a name and faults of their own."""

import ctypes
from typing import Any

from allocert import _allocert

#: PyDataMem_Handler: name[127], version, ctx, then the four functions.
_SIZE, _VERSION, _NAME_BYTES = 168, 127, 127
_FUNCTIONS = {"malloc": 136, "calloc": 144, "realloc": 152, "free": 160}
_CAPSULE_NAME = b"mem_handler"

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_new_capsule.restype = ctypes.py_object
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer.restype = ctypes.c_void_p

#: Every handler and name stays: an array may refer to it until the process ends.
_kept: list[Any] = []


class Handlers:
    """Makes handlers that record into the trace, all with the same faults."""

    def __init__(self) -> None:
        self.recording = _allocert.RecordingHandler()

    def new(
        self,
        name: str,
        version: int = 1,
        capsule_name: str = _CAPSULE_NAME.decode(),
        without: str | None = None,
        endless_name: bool = False,
    ) -> Any:
        """A capsule with a new handler; `without` names a function that is null in it."""
        described = bytearray(ctypes.string_at(self.recording.address, _SIZE))
        filler = b"x" if endless_name else b"\0"
        described[:_NAME_BYTES] = name.encode().ljust(_NAME_BYTES, filler)
        described[_VERSION] = version
        if without is not None:
            place = _FUNCTIONS[without]
            described[place : place + 8] = bytes(8)
        handler = ctypes.create_string_buffer(bytes(described), _SIZE)
        capsule_text = ctypes.create_string_buffer(capsule_name.encode())
        _kept.extend((handler, capsule_text))
        return _new_capsule(
            ctypes.addressof(handler), ctypes.cast(capsule_text, ctypes.c_char_p), None
        )


def name_of(capsule: Any) -> str:
    """The name in the handler of a capsule."""
    return ctypes.string_at(_pointer(capsule, _CAPSULE_NAME)).decode()
