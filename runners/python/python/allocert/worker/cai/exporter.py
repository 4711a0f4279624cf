"""The worker as a producer: objects with any dictionary at all."""

import weakref

#: What fills memory between elements.
GAP = 0xEE


class Exporter:
    """What a subject is given: an object with the one attribute. It owns the memory, as an array of a library would."""

    __slots__ = ("__weakref__", "_record")

    def __init__(self, record):
        self._record = record
        weakref.finalize(self, record.memory.free).atexit = False

    @property
    def __cuda_array_interface__(self):
        return self._record.read()


class Record:
    """What the worker knows of an exporter."""

    def __init__(self, memory, layout, typestr, entries, attribute, keeps):
        self.memory, self.layout, self.typestr = memory, layout, typestr
        self.entries, self.attribute = entries, attribute
        self.reads = 0
        self._given = []
        #: What lives as long as the object: its streams, its mask.
        self._keeps = keeps

    def read(self):
        self.reads += 1
        if self.attribute == "missing":
            raise AttributeError("this object shows no interface")
        if self.attribute == "raises":
            raise RuntimeError("this object cannot be exported")
        given = dict(self.entries)
        self._given.append(given)
        return given

    @property
    def unchanged(self):
        """Whether every dict that was given out is as it was."""
        return all(given == self.entries for given in self._given)


def record_of(exporter):
    return exporter._record


def bytes_of(layout, elements):
    """The memory of an array whose elements, in C order, are these."""
    low, high = layout.span()
    raw = bytearray([GAP]) * (high - low)
    for offset, element in zip(layout.offsets(), elements):
        raw[offset - low : offset - low + len(element)] = element
    return bytes(raw)
