"""The facts of objects that a subject returned: plain JSON of bounded size, whatever they are."""

import ctypes
import math
import operator
import weakref
from typing import Any

import numpy
from numba.cuda.cudadrv import driver as numba_driver

from ..operations import Facts
from ..safe_access import read_attribute
from ..safe_text import bounded, class_names, type_name
from .memory_objects import memory_object_of, proxied_object

#: The size of a CUipcMemHandle.
HANDLE_BYTES = 64


def plain(value: Any) -> Any:
    """A scalar as JSON; anything else as a text that describes it."""
    if value is None or type(value) is bool:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is str:
        return bounded(value)
    if hasattr(type(value), "__index__"):
        return number(value)
    return f"<{type_name(value)} {bounded(value, 100)}>"


def number(value: Any) -> int | str | None:
    """An integer of at most 64 bits. None stays None, anything else becomes a description."""
    if value is None:
        return None
    try:
        whole = operator.index(value)
    except BaseException:  # noqa: BLE001 - `__index__` may be the subject's
        return f"<{type_name(value)} {bounded(value, 100)}>"
    return whole if -(1 << 63) <= whole < 1 << 64 else f"<integer of {whole.bit_length()} bits>"


def address(value: Any) -> int | None:
    """A pointer as an integer: 0 stands for none, None for what no host could use as a pointer."""
    if value is None:
        return 0
    if isinstance(value, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t)):
        return value.value or 0  # both texts show addresses of such types
    if not hasattr(type(value), "__int__") or type(value) in (float, bool):
        return None
    try:
        whole = int(value)
    except BaseException:  # noqa: BLE001 - `__int__` may be the subject's
        return None
    return whole if 0 <= whole < 1 << 64 else None


def bases(value: Any) -> list[str]:
    """The names of the value's class and its bases in method resolution order."""
    return class_names(type(value))


def memory(value: Any, context: Any = None) -> Facts:
    """The facts of what memalloc, memhostalloc, mempin or a view returned.

    `context` is the Numba context that the memory should belong to, or None.
    """
    owner = memory_object_of(value)
    kind = _kind(value, owner)
    pointer = _attribute(value, owner, "device_pointer")
    host_pointer = _attribute(value, owner, "host_pointer")
    main_pointer = pointer if kind in ("device", "mapped") else host_pointer
    owner_attribute = "owned" if kind in ("pinned", "mapped") else "_owner"
    return {
        **_extent(value, owner, pointer),
        "kind": kind,
        "bases": list(dict.fromkeys(bases(value) + bases(owner))),
        "host_pointer": address(host_pointer),
        "pointer_type": None if main_pointer is None else type_name(main_pointer),
        "context_matches": _is_context(_attribute(value, owner, "context"), context),
        "owner_is_none": read_attribute(value, owner_attribute) is None,
        "references": number(read_attribute(owner, "refct")),
        **_buffer(value),
    }


def extent(value: Any) -> Facts:
    """The facts of device memory that say where it is and whether its end is announced.

    For memory by the thousand: they take a third of the time of all facts.
    """
    owner = memory_object_of(value)
    return _extent(value, owner, _attribute(value, owner, "device_pointer"))


def _extent(value: Any, owner: Any, pointer: Any) -> Facts:
    return {
        "type": type_name(value),
        "pointer": address(pointer),
        "size_bytes": number(_attribute(value, owner, "size")),
        "has_finalizer": read_attribute(owner, "is_managed") is True,
    }


def _attribute(value: Any, owner: Any, name: str) -> Any:
    found = read_attribute(value, name)
    return read_attribute(owner, name) if found is None else found


def _kind(value: Any, owner: Any) -> str:
    """`device`, `pinned`, `mapped`, or `none` for what is no memory."""

    def either_is(*classes: type) -> bool:
        return isinstance(value, classes) or isinstance(owner, classes)

    if either_is(numba_driver.PinnedMemory):
        return "pinned"
    if either_is(numba_driver.MappedMemory, numba_driver.MappedOwnedPointer):
        return "mapped"
    if either_is(numba_driver.MemoryPointer, numba_driver.OwnedPointer):
        return "device"
    device = read_attribute(value, "device_pointer")
    if read_attribute(value, "host_pointer") is not None:
        return "pinned" if device is None else "mapped"
    return "none" if device is None else "device"


def _is_context(value: Any, context: Any) -> bool | None:
    """Whether it is that context or a live weak proxy of it; None if no context is expected."""
    if context is None:
        return None
    return value is context or (
        type(value) is weakref.ProxyType and proxied_object(value) is context
    )


def _buffer(value: Any) -> Facts:
    """Length and writability of the buffer that NumPy would see; None where there is no buffer."""
    absent = {"buffer_bytes": None, "writable": None}
    # Numba's buffer class dereferences whatever `_bufptr_` converts to, and crashes on what does
    # not convert.
    pointer = read_attribute(value, "_bufptr_")
    if isinstance(pointer, ctypes._SimpleCData) or not address(pointer):
        return absent
    try:
        size_bytes = memoryview(value).nbytes
        array = numpy.ndarray(shape=size_bytes, dtype=numpy.uint8, buffer=value)
    except BaseException:  # noqa: BLE001 - an object without the buffer protocol
        return absent
    return {"buffer_bytes": size_bytes, "writable": bool(array.flags.writeable)}


def memory_info(value: Any) -> Facts:
    """The facts of what get_memory_info returned. `named`: it has attributes, and is no tuple."""
    free, total = read_attribute(value, "free"), read_attribute(value, "total")
    named = free is not None and total is not None
    if not named:
        try:
            free, total = value
        except BaseException:  # noqa: BLE001 - it may be anything
            free = total = None
    return {
        "type": type_name(value),
        "free_bytes": number(free),
        "total_bytes": number(total),
        "named": named,
    }


def ipc_handle(handle: Any, base: Any, identity: Any) -> Facts:
    """The facts of an IPC handle.

    `base` is the memory that it was made for, `identity` that memory's device as Numba names it.
    """
    raw = handle_bytes(handle)
    source = read_attribute(handle, "source_info")
    return {
        "type": type_name(handle),
        "bases": bases(handle),
        "handle_bytes": None if raw is None else len(raw),
        "handle": None if raw is None else raw.hex(),
        "size_bytes": number(read_attribute(handle, "size")),
        "offset_bytes": number(read_attribute(handle, "offset")),
        "base_is_memory": read_attribute(handle, "base") is base,
        # None is the default of the class: open() then opens the handle on the current device.
        "source_matches": None if source is None else _equal(source, identity),
    }


def _equal(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except BaseException:  # noqa: BLE001 - `__eq__` may be the subject's
        return False


def handle_bytes(handle: Any) -> bytes | None:
    """The 64 bytes of the CUipcMemHandle, or the bytes of whatever stands in its place."""
    inner = read_attribute(handle, "handle")
    if isinstance(inner, numba_driver.binding.CUipcMemHandle):
        return ctypes.string_at(inner.getPtr(), HANDLE_BYTES)
    try:
        return None if inner is None or isinstance(inner, int) else bytes(inner)[: 2 * HANDLE_BYTES]
    except BaseException:  # noqa: BLE001 - it may be anything
        return None


def driver_handle(raw: bytes) -> Any:
    """A CUipcMemHandle of cuda-bindings with these 64 bytes."""
    handle = numba_driver.binding.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), raw, HANDLE_BYTES)
    return handle


def array(value: Any) -> Facts:
    """The facts of a device array, or of a NumPy array over pinned, mapped or managed memory."""
    device = read_attribute(value, "device_ctypes_pointer")
    data = read_attribute(read_attribute(value, "ctypes"), "data")
    size = read_attribute(value, "nbytes")
    return {
        "type": type_name(value),
        "size_bytes": number(size if size is not None else read_attribute(value, "alloc_size")),
        "pointer": address(read_attribute(device, "value")),
        "host_pointer": address(data),
        "has_finalizer": read_attribute(memory_object_of(value), "is_managed") is True,
    }
