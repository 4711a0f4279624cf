"""Describes the `__cuda_array_interface__` of an object as plain JSON.

Each value names its class. The object may be anything: it is never compared, and no code of it is
called but the one read of the attribute. An exception of that read becomes part of the description.
runners/PROTOCOL.md, "Descriptions", has the format.
"""

import itertools
import math
from typing import Any, TypeAlias

from ..safe_text import bounded, type_name

ATTRIBUTE = "__cuda_array_interface__"
KEYS = ("shape", "typestr", "data", "version", "strides", "descr", "mask", "stream")

#: Plain JSON.
Description: TypeAlias = dict[str, Any]

#: Described items of a tuple, which NumPy bounds by its 64 axes, and of a list, which holds the
#: fields of a record.
_TUPLE_ITEMS, _LIST_ITEMS = 64, 1024
#: Described values altogether, and levels of values, and of masks of masks.
_VALUES, _LEVELS, _MASKS = 8192, 24, 9
#: An integer of this range is written as a number that every reader of JSON keeps.
_EXACT = range(-(1 << 63), 1 << 64)
#: Keys that are listed besides the known ones.
_OTHER_KEYS = 64

_BUILTIN = (bool, int, float, str, tuple, list, dict, type(None))
_NAMES = {cls.__name__ for cls in _BUILTIN}


def exported(value: Any, kept: list[Any] | None = None) -> Description:
    """Describes the object `value` with its interface, or with the exception of reading it.

    The values of the attributes are appended to `kept`: nothing else may keep a mask alive.
    """
    return _Describer(kept).exported(value)


def interface(value: Any, kept: list[Any] | None = None) -> Description:
    """Describes the value of the attribute. Those of its masks are appended to `kept`."""
    return _Describer(kept).interface(value)


def plain(value: Any) -> Description:
    """Describes any other value."""
    return _Describer(None).value(value, 0)


class _Describer:
    def __init__(self, kept: list[Any] | None) -> None:
        self._kept = [] if kept is None else kept
        self._left = _VALUES
        #: The object that is described, and those of which it is a mask.
        self._outer: list[Any] = []

    def exported(self, value: Any) -> Description:
        found: Description = {"type": _class_name(value)}
        if len(self._outer) == _MASKS or any(outer is value for outer in self._outer):
            return {**found, "truncated": 1}
        self._outer.append(value)
        try:
            attribute = getattr(value, ATTRIBUTE)
        except AttributeError:
            return found
        except BaseException as error:  # noqa: BLE001 - a property is the subject's code
            return {**found, "raised": f"{type_name(error)}: {bounded(error, 300)}"}
        else:
            self._kept.append(attribute)
            return {**found, "interface": self.interface(attribute)}
        finally:
            self._outer.pop()

    def interface(self, value: Any) -> Description:
        if not issubclass(type(value), dict):
            return self.value(value, 0)
        entries = {key: self._entry(key, entry) for key in KEYS for entry in _entries(value, key)}
        found = {**_typed(value, dict), "entries": entries}
        others = _other_keys(value)
        return {**found, "other_keys": others} if others else found

    def _entry(self, key: str, value: Any) -> Description:
        if key == "mask" and not _is_builtin(type(value)):
            return {**self.value(value, 0), **self.exported(value)}
        return self.value(value, 0)

    def value(self, value: Any, level: int) -> Description:
        self._left -= 1
        base = next((cls for cls in _BUILTIN if issubclass(type(value), cls)), None)
        found = _typed(value, base)
        if base is bool:
            found["value"] = value
        elif base is int:
            found.update(_integer(int.__index__(value)))
        elif base is float:
            number = float.__float__(value)
            found.update({"value": number} if math.isfinite(number) else {})
        elif base is str:
            found["value"] = bounded(value if type(value) is str else str.__str__(value))
        elif base is tuple:
            length, items = tuple.__len__(value), tuple.__iter__(value)
            found.update(self._items(length, items, _TUPLE_ITEMS, level))
        elif base is list:
            length, items = list.__len__(value), list.__iter__(value)
            found.update(self._items(length, items, _LIST_ITEMS, level))
        elif base is dict:
            found["entries"] = {}
        return found

    def _items(self, length: int, items: Any, limit: int, level: int) -> Description:
        # The list may shrink meanwhile; a copy does not.
        first = list(itertools.islice(items, limit)) if level < _LEVELS else []
        described = []
        for item in first:
            if self._left <= 0:
                break
            described.append(self.value(item, level + 1))
        more = length - len(described)
        return {"items": described, "truncated": more} if more > 0 else {"items": described}


def _entries(value: dict[Any, Any], key: str) -> list[Any]:
    """What the dict has under the key, as a list of one or none."""
    absent = object()
    try:
        entry = dict.get(value, key, absent)
    except BaseException:  # noqa: BLE001 - another key's `__eq__` is the subject's code
        return []
    return [] if entry is absent else [entry]


def _other_keys(value: dict[Any, Any]) -> list[str]:
    try:
        keys = list(itertools.islice(dict.keys(value), _OTHER_KEYS + len(KEYS)))
    except RuntimeError:  # another thread changes it meanwhile
        return []
    others = [bounded(key, 100) for key in keys if not _is_of_interface(key)]
    return others[:_OTHER_KEYS]


def _is_of_interface(key: Any) -> bool:
    return isinstance(key, str) and str.__str__(key) in KEYS


def _integer(value: int) -> Description:
    if value in _EXACT:
        return {"value": value}
    sign = "-" if value < 0 else ""
    # Python refuses to write very long integers out, and nobody reads them.
    bits = value.bit_length()
    return {"digits": str(value) if bits <= 256 else f"{sign}2**{bits - 1}…"}


def _typed(value: Any, base: type | None) -> Description:
    found: Description = {"type": _class_name(value)}
    return found if base is None or type(value) is base else {**found, "base": base.__name__}


def _class_name(value: Any) -> str:
    """The name of the class; one that has a built-in name gets its module: `numpy.bool`."""
    name = type_name(value)
    if name not in _NAMES or _is_builtin(type(value)):
        return name
    try:
        return f"{bounded(type(value).__module__, 100)}.{name}"
    except BaseException:  # noqa: BLE001 - a metaclass is the subject's code
        return f"?.{name}"


def _is_builtin(cls: type) -> bool:
    # By identity: a metaclass may answer `==`.
    return any(cls is builtin for builtin in _BUILTIN)
