"""Reading attributes of the subject's objects: they may be missing, lie or raise."""

from typing import Any


def read_attribute(value: object, name: str, default: Any = None) -> Any:
    """`value.name`, or the default if that raises."""
    try:
        return getattr(value, name)
    except BaseException:  # noqa: BLE001 - a property is the subject's code
        return default
