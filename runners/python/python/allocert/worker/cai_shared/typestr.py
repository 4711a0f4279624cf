"""Type strings that say the same."""

import re

#: Elements that have no byte order: of one byte, or bytes and text of one byte each.
_WITHOUT_ORDER = re.compile(r"[<>|]([biu]1|[SVa][0-9]+)")
_ONE_UNIT = re.compile(r"([<>][mM]8)\[1([a-zA-Z]+)\]")


def canonical(typestr: str) -> str:
    """The type string that NumPy writes for this type, so that equal types are equal text.

    `<u1` and `|u1` are one type, because a byte has no byte order, and so are `<m8[1s]` and
    `<m8[s]`.
    """
    without_order = _WITHOUT_ORDER.fullmatch(typestr)
    if without_order:
        return f"|{without_order[1]}"
    one_unit = _ONE_UNIT.fullmatch(typestr)
    return f"{one_unit[1]}[{one_unit[2]}]" if one_unit else typestr
