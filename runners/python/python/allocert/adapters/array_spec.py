"""The types of what passes between the suite and an adapter (runners/python/ADAPTERS.md)."""

from typing import Any, Protocol, TypeAlias

#: What a consumer's library believes about an array: `shape`, `typestr`, `strides`, ...
Description: TypeAlias = dict[str, Any]


class ArraySpec(Protocol):
    """The array that a producer is asked to make."""

    shape: tuple[int, ...]
    typestr: str
    #: Name, typestr and shape of each field of a structure; empty for other types.
    fields: list[tuple[str, str, tuple[int, ...]]]
    #: `c` or `fortran`.
    layout: str
    #: `device`, `managed`, `mapped` or `pinned`.
    memory: str
    #: A stream of the adapter, or None.
    stream: Any
    read_only: bool
    #: An array of the adapter, or None.
    mask: Any
    #: The bytes of the elements in C order.
    data: bytes
