"""RMM: `DeviceBuffer`, which is bytes and exports version 0; `copy_from_device`.

The copy takes arrays of one axis.
"""

from collections.abc import Callable
from typing import Any

import numpy
from rmm.pylibrmm.device_buffer import DeviceBuffer
from rmm.pylibrmm.stream import (
    DEFAULT_STREAM,
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Stream,
)

from .array_spec import ArraySpec, Description

_STREAMS: dict[str, Callable[[], Any]] = {
    "new": Stream,
    "legacy": lambda: LEGACY_DEFAULT_STREAM,
    "per_thread": lambda: PER_THREAD_DEFAULT_STREAM,
    "default": lambda: DEFAULT_STREAM,
}
_COPY_BYTES = 1 << 16


class Producer:
    """Makes `DeviceBuffer`."""

    library = "rmm-cu13"

    def __init__(self) -> None:
        #: Sources and targets of copies, which must live until the copies end.
        self._copies: list[Any] = []
        #: Where the latest write is.
        self._written: Any = DEFAULT_STREAM

    def stream(self, kind: str) -> Any:
        return _STREAMS[kind]()

    def array(self, spec: ArraySpec) -> Any:
        if spec.typestr != "|u1" or len(spec.shape) != 1 or spec.fields:
            raise NotImplementedError("a buffer of RMM is one axis of bytes")
        if spec.read_only or spec.mask is not None or spec.memory != "device":
            raise NotImplementedError(
                "a buffer of RMM is neither read-only nor masked, and lies in device memory"
            )
        made = DeviceBuffer(size=len(spec.data), stream=spec.stream or DEFAULT_STREAM)
        if spec.data:
            made.copy_from_host(spec.data, stream=spec.stream or DEFAULT_STREAM)
        return made

    def write(self, array: Any, stream: Any, byte: int) -> None:
        source = numpy.full(array.size, byte, "u1")
        self._copies.append(source)
        self._written = stream or DEFAULT_STREAM
        array.copy_from_host(source, stream=self._written)

    def read(self, array: Any, stream: Any) -> None:
        # RMM leaves it to its users to put reads after writes, and has no events.
        self._written.synchronize()
        self._copies.append(array.copy_to_host(stream=stream or DEFAULT_STREAM))


class Consumer:
    """Takes arrays by `copy_from_device`."""

    library = "rmm-cu13"

    def __init__(self) -> None:
        self._target = DeviceBuffer(size=_COPY_BYTES)

    def stream(self, kind: str) -> Any:
        return _STREAMS[kind]()

    def launch(self, exporters: list[Any], stream: Any) -> list[Description]:
        """Copies all bytes that the object describes. RMM does not look at its stream."""
        if len(exporters) != 1:
            raise NotImplementedError("a copy has one source")
        self._target.copy_from_device(exporters[0], stream=stream or DEFAULT_STREAM)
        return [{"valid": None}]
