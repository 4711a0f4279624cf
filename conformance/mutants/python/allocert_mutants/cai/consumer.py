"""A faithful consumer: it waits for the exported stream before its work on a stream of its own, and has that stream wait for it."""

import math

from . import device
from .device import Memory, Stream
from .layout import c_strides, gathered, size_of, span

ENTRIES = ("shape", "typestr", "data", "version")


class Imported:
    """What was said, checked. It keeps the exporter."""

    def __init__(self, owner, said):
        self.owner = owner
        missing = [name for name in ENTRIES if name not in said]
        if missing:
            raise ValueError(f"the interface has no {', '.join(missing)}")
        self.version = said["version"]
        self.shape, self.typestr = tuple(said["shape"]), said["typestr"]
        self.size = size_of(self.typestr)
        self.pointer, self.read_only = said["data"]
        self.strides = said.get("strides") or c_strides(self.shape, self.size)
        self.stream, self.mask = said.get("stream"), said.get("mask")

    def check(self):
        if self.version not in (0, 1, 2, 3):
            raise ValueError(f"version {self.version} is unknown")
        if any(type(extent) is not int or extent < 0 for extent in self.shape):
            raise ValueError(f"{self.shape} is no shape")
        if len(self.strides) != len(self.shape):
            raise ValueError("shape and strides differ in length")
        if math.prod(self.shape) and not self.pointer:
            raise ValueError("elements at address 0")
        if self.mask is not None:
            raise NotImplementedError("masks are not supported")
        if self.stream is not None and (type(self.stream) is not int or self.stream <= 0):
            raise ValueError(f"{self.stream} is no stream")

    def bytes(self):
        low, high = span(self.shape, self.strides, self.size)
        return self.pointer + low, high - low, low

    @property
    def __cuda_array_interface__(self):
        return dict(self.owner.__cuda_array_interface__)


class Consumer:
    imported_class = Imported

    def __init__(self):
        self.own = Stream()
        #: Freeing waits for everything; what is kept does not.
        self.scratch = []

    def stream(self, kind):
        raise NotImplementedError("all work is on one stream")

    def accept(self, exporter, ignore_stream):
        imported = self.imported_class(exporter, exporter.__cuda_array_interface__)
        imported.check()
        if ignore_stream:
            imported.stream = None
        self.wait(imported)
        return imported

    def wait(self, imported):
        """Before the first access."""
        if imported.stream is not None:
            device.order(imported.stream, self.own.handle)

    def done(self, imported):
        """After the last access."""
        if imported.stream is not None:
            device.order(self.own.handle, imported.stream)

    def describe(self, imported):
        names = ("shape", "typestr", "strides", "pointer", "read_only", "stream")
        return {name: getattr(imported, name) for name in names}

    def read(self, imported):
        pointer, size_bytes, low = imported.bytes()
        raw = device.read(pointer, size_bytes, self.own.handle)
        self.done(imported)
        self.own.synchronize()
        return gathered(raw.raw, low, imported.shape, imported.strides, imported.size)

    def write(self, imported, byte):
        if imported.read_only:
            raise ValueError("the data are read-only")
        pointer, size_bytes, _ = imported.bytes()
        device.fill(pointer, byte, size_bytes, self.own.handle)
        self.done(imported)

    def launch(self, exporters, stream):
        """Copies everything to memory of its own."""
        for exporter in exporters:
            imported = self.accept(exporter, False)
            pointer, size_bytes, _ = imported.bytes()
            self.scratch.append(Memory("device", size_bytes))
            device.copy(self.scratch[-1].base, pointer, size_bytes, self.own.handle)
            self.done(imported)

    def export(self, imported):
        return imported
