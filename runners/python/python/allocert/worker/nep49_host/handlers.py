"""The handlers of the worker: copies of one that records, with a name and faults of their own."""

import ctypes
from typing import Any

from allocert import _allocert

from .guards import Guards

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

#: A capsule in its destructor has no references left, and must not get any.
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

#: Every handler and name stays: an array may refer to it until the process ends.
_kept: list[Any] = []


class Handlers:
    """Makes handlers that record into the trace, all with the same faults."""

    def __init__(self) -> None:
        self.recording = _allocert.RecordingHandler()
        #: The recorder behind the last handler; one with guards has its own.
        self._latest = self.recording
        #: Those of the last handler that has them.
        self.guards = Guards()
        #: Whether the capsule that is watched has ended.
        self.ended = False

    def new(
        self,
        name: str,
        version: int = 1,
        capsule_name: str = _CAPSULE_NAME.decode(),
        without: str | None = None,
        endless_name: bool = False,
        guarded: bool = False,
        watched: bool = False,
    ) -> Any:
        """A capsule with a new handler; `without` names a function that is null in it."""
        recording = self._latest = self._guarded() if guarded else self.recording
        described = bytearray(ctypes.string_at(recording.address, _SIZE))
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
            ctypes.addressof(handler),
            ctypes.cast(capsule_text, ctypes.c_char_p),
            self._watch() if watched else None,
        )

    def fail(self, function: str, nth: int, count: int) -> None:
        """Makes later calls of a function answer null, those of the last handler and its like."""
        self._latest.fail(function, nth, count)

    def clear_faults(self) -> None:
        for recording in {self.recording, self._latest}:
            recording.clear_faults()

    def _guarded(self) -> _allocert.RecordingHandler:
        self.guards = Guards()
        return _allocert.RecordingHandler(self.guards.address, self.guards)

    def _watch(self) -> Any:
        """A destructor of a capsule."""
        self.ended = False

        def note(_capsule: int) -> None:
            self.ended = True

        destructor = _Destructor(note)
        _kept.append(destructor)
        return ctypes.cast(destructor, ctypes.c_void_p)


def name_of(capsule: Any) -> str:
    """The name in the handler of a capsule."""
    return ctypes.string_at(_pointer(capsule, _CAPSULE_NAME)).decode()
