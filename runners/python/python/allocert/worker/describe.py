"""What an object says of itself through `__cuda_array_interface__`, as plain data: every value with the name of its class.

The object is anybody's. It is looked at, never compared or called beyond the one read of the attribute; what it raises becomes
part of the description. The form is in runners/PROTOCOL.md, under "Descriptions".
"""

import itertools
import math

from .text import bounded, type_name

ATTRIBUTE = "__cuda_array_interface__"
KEYS = ("shape", "typestr", "data", "version", "strides", "descr", "mask", "stream")

#: Items of a tuple, which NumPy bounds by its 64 axes, and of a list, which holds the fields of a record.
ITEMS = {tuple: 64, list: 1024}
#: Values of one description, and how deep they and masks of masks may lie in each other.
VALUES, DEPTH, MASKS = 8192, 24, 9
#: Below that an integer is written as a number that every reader of JSON keeps.
EXACT = range(-(1 << 63), 1 << 64)

_BUILTIN = (bool, int, float, str, tuple, list, dict, type(None))
_NAMES = {cls.__name__ for cls in _BUILTIN}


def exported(value, kept=None):
    """The object `value` with what its attribute gave, or with what became of reading it.

    What the attributes gave is appended to `kept`: it may be all that keeps a mask alive.
    """
    return _Walk(kept).object(value)


def interface(value):
    """The value of the attribute, for who has read it."""
    return _Walk().interface(value)


def plain(value):
    """Any other value."""
    return _Walk().value(value, 0)


class _Walk:
    def __init__(self, kept=None):
        self._kept = [] if kept is None else kept
        self._left = VALUES
        #: The objects whose attributes we are in.
        self._inside = []

    def object(self, value):
        found = {"type": _class_name(value)}
        if len(self._inside) == MASKS or any(outer is value for outer in self._inside):
            return {**found, "truncated": 1}
        self._inside.append(value)
        try:
            said = getattr(value, ATTRIBUTE)
        except AttributeError:
            return found
        except BaseException as error:  # noqa: BLE001 - a property is the subject's code
            return {**found, "raised": f"{type_name(error)}: {bounded(error, 300)}"}
        else:
            self._kept.append(said)
            return {**found, "interface": self.interface(said)}
        finally:
            self._inside.pop()

    def interface(self, value):
        if not issubclass(type(value), dict):
            return self.value(value, 0)
        described = {key: self._entry(key, held) for key in KEYS for held in _held(value, key)}
        found = {**_typed(value, dict), "entries": described}
        others = _other_keys(value)
        return {**found, "other_keys": others} if others else found

    def _entry(self, key, value):
        if key == "mask" and not _is_builtin(type(value)):
            return {**self.value(value, 0), **self.object(value)}
        return self.value(value, 0)

    def value(self, value, depth):
        self._left -= 1
        base = next((cls for cls in _BUILTIN if issubclass(type(value), cls)), None)
        found = _typed(value, base)
        if base is bool:
            found["value"] = value
        elif base is int:
            found.update(_integer(int.__index__(value)))
        elif base is float:
            plain = float.__float__(value)
            found.update({"value": plain} if math.isfinite(plain) else {})
        elif base is str:
            found["value"] = bounded(value if type(value) is str else str.__str__(value))
        elif base in ITEMS:
            found.update(self._items(value, base, depth))
        elif base is dict:
            found["entries"] = {}
        return found

    def _items(self, value, base, depth):
        length = base.__len__(value)
        # A list may shrink meanwhile; a copy does not.
        first = list(itertools.islice(base.__iter__(value), ITEMS[base])) if depth < DEPTH else []
        items = []
        for item in first:
            if self._left <= 0:
                break
            items.append(self.value(item, depth + 1))
        more = length - len(items)
        return {"items": items, "truncated": more} if more > 0 else {"items": items}


def _held(value, key):
    """What the dict holds under the key, as a list of one or none."""
    absent = object()
    try:
        held = dict.get(value, key, absent)
    except BaseException:  # noqa: BLE001 - another key's `__eq__` is the subject's code
        return []
    return [] if held is absent else [held]


def _other_keys(value):
    try:
        keys = list(itertools.islice(dict.keys(value), 64 + len(KEYS)))
    except RuntimeError:  # somebody changes it meanwhile
        return []
    return [bounded(key, 100) for key in keys if not (type(key) is str and key in KEYS)][:64]


def _integer(value):
    if value in EXACT:
        return {"value": value}
    sign = "-" if value < 0 else ""
    # Python refuses to write very long integers out, and nobody reads them.
    bits = value.bit_length()
    return {"digits": str(value) if bits <= 256 else f"{sign}2**{bits - 1}…"}


def _typed(value, base):
    found = {"type": _class_name(value)}
    return found if base is None or type(value) is base else {**found, "base": base.__name__}


def _class_name(value):
    """A class that borrows a built-in name is told apart by its module: `numpy.bool`."""
    name = type_name(value)
    if name not in _NAMES or _is_builtin(type(value)):
        return name
    try:
        return f"{bounded(type(value).__module__, 100)}.{name}"
    except BaseException:  # noqa: BLE001 - a metaclass is the subject's code
        return f"?.{name}"


def _is_builtin(cls):
    # By identity: a metaclass may answer `==`.
    return any(cls is one for one in _BUILTIN)
