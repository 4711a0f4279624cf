"""A handler whose malloc() is PyErr_BadArgument(): it answers null and sets TypeError."""

import ctypes

from .conforming_handler import Handler

_handler = Handler()
_bad_argument = ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, type(_handler.structure.malloc))
_handler.structure.malloc = _bad_argument
capsule = _handler.capsule
