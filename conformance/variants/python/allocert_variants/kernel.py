"""A kernel that is given the address of an array. The software driver runs no code of kernels."""

import ctypes

from allocert_mutants.cuda_driver import call

_PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry reach(.param .u64 address) { ret; }
\0"""

#: By context: a function belongs to the one that it was looked up in.
_functions: dict[int | None, ctypes.c_void_p] = {}


def launch(stream: ctypes.c_void_p, address: int) -> None:
    """Launches the kernel in the current context, in the stream with this handle."""
    context = ctypes.c_void_p()
    call("cuCtxGetCurrent", ctypes.byref(context))
    if context.value not in _functions:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), _PTX)
        call("cuModuleGetFunction", ctypes.byref(function), module, b"reach")
        _functions[context.value] = function
    argument = ctypes.c_uint64(address)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    threads = [ctypes.c_uint(1)] * 6
    shared_bytes = ctypes.c_uint(0)
    call(
        "cuLaunchKernel", _functions[context.value], *threads, shared_bytes, stream, arguments, None
    )
