"""What is true of the objects that came back: plain data, bounded, whatever the subject made of them."""

import ctypes
import math
import operator
import weakref

import numpy
from numba.cuda.cudadrv import driver as numba_driver

from ..peek import read
from ..text import bounded, class_names, type_name
from .memory import behind, referent

HANDLE_BYTES = 64


def plain(value):
    """A scalar as JSON; anything else as a description of it."""
    if value is None or type(value) is bool:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is str:
        return bounded(value)
    if hasattr(type(value), "__index__"):
        return number(value)
    return f"<{type_name(value)} {bounded(value, 100)}>"


def number(value):
    """A size as an integer of at most 64 bits; what is none is described, None stays None."""
    if value is None:
        return None
    try:
        whole = operator.index(value)
    except BaseException:  # noqa: BLE001 - `__index__` may be the subject's
        return f"<{type_name(value)} {bounded(value, 100)}>"
    return whole if -(1 << 63) <= whole < 1 << 64 else f"<integer of {whole.bit_length()} bits>"


def address(value):
    """A pointer as an integer; 0 for none, None where it is no pointer that a host could use."""
    if value is None:
        return 0
    if not hasattr(type(value), "__int__") or type(value) in (float, bool):
        return None
    try:
        whole = int(value)
    except BaseException:  # noqa: BLE001
        return None
    return whole if 0 <= whole < 1 << 64 else None


def bases(value):
    """Class names up the method resolution order."""
    return class_names(type(value))


def memory(value, context=None):
    """The memory facts of an object that memalloc, memhostalloc, mempin or a view returned."""
    owner = behind(value)
    kind = _kind(value, owner)
    pointer = _field(value, owner, "device_pointer")
    host_pointer = _field(value, owner, "host_pointer")
    shown = pointer if kind in ("device", "mapped") else host_pointer
    return {
        "kind": kind,
        "type": type_name(value),
        "bases": list(dict.fromkeys(bases(value) + bases(owner))),
        "pointer": address(pointer),
        "host_pointer": address(host_pointer),
        "pointer_type": None if shown is None else type_name(shown),
        "size_bytes": number(_field(value, owner, "size")),
        "context_matches": _is_context(_field(value, owner, "context"), context),
        "owner_is_none": read(value, "owned" if kind in ("pinned", "mapped") else "_owner") is None,
        "references": number(read(owner, "refct")),
        "has_finalizer": read(owner, "is_managed") is True,
        **_buffer(value),
    }


def _field(value, owner, name):
    found = read(value, name)
    return read(owner, name) if found is None else found


def _kind(value, owner):
    classes = (value, owner)
    if any(isinstance(one, numba_driver.PinnedMemory) for one in classes):
        return "pinned"
    if any(
        isinstance(one, (numba_driver.MappedMemory, numba_driver.MappedOwnedPointer))
        for one in classes
    ):
        return "mapped"
    if any(
        isinstance(one, (numba_driver.MemoryPointer, numba_driver.OwnedPointer)) for one in classes
    ):
        return "device"
    device, host = read(value, "device_pointer"), read(value, "host_pointer")
    if host is not None:
        return "pinned" if device is None else "mapped"
    return "none" if device is None else "device"


def _is_context(value, context):
    """Whether it is that context itself or a live proxy of it; None where no context is to be expected."""
    if context is None:
        return None
    return value is context or (type(value) is weakref.ProxyType and referent(value) is context)


def _buffer(value):
    """Length and writability of the buffer that NumPy would see; None where there is no buffer."""
    absent = {"buffer_bytes": None, "writable": None}
    # Numba's buffer class dereferences whatever `_bufptr_` converts to, and crashes on what does
    # not convert.
    if not address(read(value, "_bufptr_")):
        return absent
    try:
        size_bytes = memoryview(value).nbytes
        array = numpy.ndarray(shape=size_bytes, dtype=numpy.uint8, buffer=value)
    except BaseException:  # noqa: BLE001 - an object without the buffer protocol
        return absent
    return {"buffer_bytes": size_bytes, "writable": bool(array.flags.writeable)}


def memory_info(value):
    free, total = read(value, "free"), read(value, "total")
    named = free is not None and total is not None
    if not named:
        try:
            free, total = value
        except BaseException:  # noqa: BLE001
            free = total = None
    return {
        "type": type_name(value),
        "free_bytes": number(free),
        "total_bytes": number(total),
        "named": named,
    }


def ipc_handle(handle, base, identity):
    """`base` is the memory it was made for, `identity` that memory's device."""
    raw = handle_bytes(handle)
    source = read(handle, "source_info")
    return {
        "type": type_name(handle),
        "bases": bases(handle),
        "handle_bytes": None if raw is None else len(raw),
        "handle": None if raw is None else raw.hex(),
        "size_bytes": number(read(handle, "size")),
        "offset_bytes": number(read(handle, "offset")),
        "base_is_memory": read(handle, "base") is base,
        "source_matches": _equal(source, identity),
    }


def _equal(left, right):
    try:
        return bool(left == right)
    except BaseException:  # noqa: BLE001
        return False


def handle_bytes(handle):
    """The 64 bytes of a CUipcMemHandle, or the bytes of whatever stands in its place."""
    inner = read(handle, "handle")
    if isinstance(inner, numba_driver.binding.CUipcMemHandle):
        return ctypes.string_at(inner.getPtr(), HANDLE_BYTES)
    try:
        return None if inner is None or isinstance(inner, int) else bytes(inner)[: 2 * HANDLE_BYTES]
    except BaseException:  # noqa: BLE001
        return None


def driver_handle(raw):
    """A CUipcMemHandle of these 64 bytes."""
    handle = numba_driver.binding.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), raw, HANDLE_BYTES)
    return handle


def array(value):
    """The array facts: of a device array, or of a NumPy array over pinned, mapped or managed memory."""
    device = read(value, "device_ctypes_pointer")
    data = read(read(value, "ctypes"), "data")
    size = read(value, "nbytes")
    return {
        "type": type_name(value),
        "size_bytes": number(size if size is not None else read(value, "alloc_size")),
        "pointer": address(read(device, "value")),
        "host_pointer": address(data),
    }
