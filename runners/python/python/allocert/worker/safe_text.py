"""Text from the subject, made safe to report: of bounded length, and valid Unicode."""

#: Characters that are reported of a text, unless the caller gives another limit.
_LIMIT = 4096


def bounded(value: object, limit: int = _LIMIT) -> str:
    """`str(value)` in at most `limit` characters; describes a value whose `__str__` raises."""
    try:
        text = value if type(value) is str else str(value)
        text = text[: limit + 1] if type(text) is str else str.__str__(text)[: limit + 1]
    except BaseException as error:  # noqa: BLE001 - `__str__` is the subject's code
        return f"<unprintable {type_name(value)}: {type_name(error)}>"
    if len(text) > limit:
        text = text[:limit] + "..."
    # JSON readers refuse lone surrogates.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def type_name(value: object) -> str:
    """The name of the value's class."""
    return class_name(type(value))


def class_names(cls: type) -> list[str]:
    """The names of the class and its bases in method resolution order, without `object`."""
    # `type` itself is asked, because a metaclass is the subject's code.
    bases: tuple[type, ...] = type.__dict__["__mro__"].__get__(cls)
    return [class_name(base) for base in bases if base is not object]


def class_name(cls: type) -> str:
    """The name of a class, whatever its metaclass does."""
    try:
        return bounded(type.__dict__["__name__"].__get__(cls), 200)
    except BaseException:  # noqa: BLE001 - a metaclass is the subject's code
        return "<unnamed class>"
