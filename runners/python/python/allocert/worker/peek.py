"""Looking at objects of the subject: attributes may be missing, lie or raise."""


def read(value, name, default=None):
    """`value.name`, or the default where that raises."""
    try:
        return getattr(value, name)
    except BaseException:  # noqa: BLE001 - a property is the subject's code
        return default
