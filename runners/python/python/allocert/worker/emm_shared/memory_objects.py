"""The memory object behind what an EMM plugin, or Numba on top of one, returns.

Everything read here belongs to the subject: attributes may be missing, lie or raise.
"""

import weakref
from typing import Any

from ..safe_access import read_attribute

#: An array may wrap a pointer, that one another, and so on; no library has more than a few levels.
_LEVELS = 8


def memory_object_of(value: Any) -> Any:
    """The memory object behind an array, an owned pointer or a weak proxy; else `value` itself."""
    for _ in range(_LEVELS):
        inner = _inner(value)
        if inner is None or inner is value:
            return value
        value = inner
    return value


def _inner(value: Any) -> Any:
    if type(value) is weakref.ProxyType:
        return proxied_object(value)
    fields = read_attribute(value, "__dict__", {})
    if type(fields) is not dict:
        return None
    if "gpu_data" in fields:
        return fields["gpu_data"]
    if "_mem" in fields:
        return fields["_mem"]
    owner = fields.get("_owner")
    if "device_pointer" in fields and "device_pointer" in read_attribute(owner, "__dict__", ()):
        return owner
    return _array_base(value)


def _array_base(value: Any) -> Any:
    """What a NumPy array is a view of."""
    is_array = hasattr(type(value), "__array_priority__")
    base = read_attribute(value, "base") if is_array else None
    return base.obj if isinstance(base, memoryview) else base


def proxied_object(proxy: Any) -> Any:
    """The object behind a weak proxy, or None if it is dead.

    A proxy does not name its object; a bound method of the object does.
    """
    for method in ("own", "push", "__init__"):
        owner = read_attribute(read_attribute(proxy, method), "__self__")
        if owner is not None:
            return owner
    return None


def lifetime_of(value: Any) -> "tuple[Any, weakref.finalize[..., Any] | None]":
    """The object that owns the memory, and its finalizer if it has one."""
    target = memory_object_of(value)
    finalizer = read_attribute(target, "_finalizer")
    return target, finalizer if isinstance(finalizer, weakref.finalize) else None
