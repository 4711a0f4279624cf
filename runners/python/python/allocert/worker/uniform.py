"""The byte that all bytes of some memory are equal to."""

from collections.abc import Iterable


def uniform_byte(data: bytes) -> int | None:
    """The byte that all of `data` is made of, or None."""
    # Each byte is as the one before it. `data.count()` takes ten times as long.
    return data[0] if data and data[1:] == data[:-1] else None


def uniform_byte_of_chunks(chunks: Iterable[bytes]) -> int | None:
    """The byte that all chunks are made of, or None. Takes no chunk after one that differs."""
    found: int | None = None
    for chunk in chunks:
        byte = uniform_byte(chunk)
        if byte is None or found not in (None, byte):
            return None
        found = byte
    return found
