"""A handler whose free() is PyErr_SetNone(): it sets the exception that the context names."""

import ctypes

from .conforming_handler import Handler

_handler = Handler()
_handler.structure.ctx = id(ValueError)
_set_none = ctypes.cast(ctypes.pythonapi.PyErr_SetNone, type(_handler.structure.free))
_handler.structure.free = _set_none
capsule = _handler.capsule
