"""A resource of cuda.core that is made without the number of a device, for `--abi cuda-core`."""

from typing import Any

from cuda.core import LegacyPinnedMemoryResource


def pinned(_device: int) -> Any:
    """Page-locked memory of the host."""
    return LegacyPinnedMemoryResource()
