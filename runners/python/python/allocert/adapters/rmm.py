"""RMM: `DeviceBuffer`, which is bytes and exports version 0; `copy_from_device`, which takes arrays of one axis."""

import numpy
from rmm.pylibrmm.device_buffer import DeviceBuffer
from rmm.pylibrmm.stream import (
    DEFAULT_STREAM,
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Stream,
)

_STREAMS = {
    "new": Stream,
    "legacy": lambda: LEGACY_DEFAULT_STREAM,
    "per_thread": lambda: PER_THREAD_DEFAULT_STREAM,
    "default": lambda: DEFAULT_STREAM,
}


class Producer:
    library = "rmm-cu13"

    def __init__(self):
        #: Asynchronous copies need both their ends for as long as they take.
        self._copies = []

    def stream(self, kind):
        return _STREAMS[kind]()

    def array(self, spec):
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

    def write(self, array, stream, byte):
        source = numpy.full(array.size, byte, "u1")
        self._copies.append(source)
        array.copy_from_host(source, stream=stream or DEFAULT_STREAM)

    def read(self, array, stream):
        self._copies.append(array.copy_to_host(stream=stream or DEFAULT_STREAM))


class Consumer:
    library = "rmm-cu13"

    def __init__(self):
        self._copy = DeviceBuffer(size=1 << 16)

    def stream(self, kind):
        return _STREAMS[kind]()

    def launch(self, exporters, stream):
        """A copy of all bytes that the object describes; its stream is not asked for."""
        if len(exporters) != 1:
            raise NotImplementedError("a copy has one source")
        self._copy.copy_from_device(exporters[0], stream=stream or DEFAULT_STREAM)
        return [{"valid": None}]
