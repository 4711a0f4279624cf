"""Text from the subject, made safe to report: bounded, and free of what JSON readers refuse."""

LIMIT = 4096


def bounded(value, limit=LIMIT):
    """`str(value)` in at most `limit` characters; a value that cannot be shown is described."""
    try:
        shown = value if type(value) is str else str(value)
        shown = shown[: limit + 1] if type(shown) is str else str.__str__(shown)[: limit + 1]
    except BaseException as error:  # noqa: BLE001 - `__str__` is the subject's code
        return f"<unprintable {type_name(value)}: {type_name(error)}>"
    if len(shown) > limit:
        shown = shown[:limit] + "..."
    # Lone surrogates are no Unicode text.
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")


def type_name(value):
    return class_name(type(value))


def class_names(cls):
    """Up the method resolution order, without `object`; asked of `type` itself, because a metaclass is the subject's code."""
    return [
        class_name(base) for base in type.__dict__["__mro__"].__get__(cls) if base is not object
    ]


def class_name(cls):
    try:
        return bounded(type.__dict__["__name__"].__get__(cls), 200)
    except BaseException:  # noqa: BLE001 - a metaclass is the subject's code
        return "<unnamed class>"
