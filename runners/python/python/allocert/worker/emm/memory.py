"""What stands behind the objects that an EMM plugin, or Numba on top of one, hands out.

Everything read here belongs to the subject: attributes may be missing, lie or raise.
"""

import weakref

from ..peek import read


def behind(value):
    """The memory object behind an array, an owned pointer or a weak proxy; `value` itself where there is none."""
    for _ in range(8):
        inner = _inner(value)
        if inner is None or inner is value:
            return value
        value = inner
    return value


def _inner(value):
    if type(value) is weakref.ProxyType:
        return referent(value)
    fields = read(value, "__dict__", {})
    if type(fields) is not dict:
        return None
    if "gpu_data" in fields:
        return fields["gpu_data"]
    if "_mem" in fields:
        return fields["_mem"]
    owner = fields.get("_owner")
    if "device_pointer" in fields and "device_pointer" in read(owner, "__dict__", ()):
        return owner
    return _array_base(value)


def _array_base(value):
    base = read(value, "base") if hasattr(type(value), "__array_priority__") else None
    return base.obj if isinstance(base, memoryview) else base


def referent(proxy):
    """The object behind a weak proxy, or None when it is dead. A bound method knows its own instance."""
    for method in ("own", "push", "__init__"):
        owner = read(read(proxy, method), "__self__")
        if owner is not None:
            return owner
    return None


def root(value):
    """The object whose life decides about the memory, and its `weakref.finalize` where it shows one."""
    target = behind(value)
    finalizer = read(target, "_finalizer")
    return target, finalizer if isinstance(finalizer, weakref.finalize) else None
