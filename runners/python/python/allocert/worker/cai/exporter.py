"""The worker as a producer: objects with any dictionary at all."""

import weakref

#: What fills memory between elements, and so many bytes behind them.
GAP, BEHIND = 0xEE, 64

#: Stands in entries for the object that has them.
ITSELF = object()


class Exporter:
    """What a subject is given: an object with the one attribute. It owns the memory, as an array of a library would."""

    __slots__ = ("__weakref__", "_record")

    def __init__(self, record):
        self._record = record
        weakref.finalize(self, record.memory.free).atexit = False

    @property
    def __cuda_array_interface__(self):
        return self._record.read(self)


class Record:
    """What the worker knows of an exporter."""

    def __init__(self, memory, layout, typestr, entries, attribute, keeps):
        self.memory, self.layout, self.typestr = memory, layout, typestr
        self.entries, self.attribute = entries, attribute
        self.reads = 0
        self._given = []
        #: What lives as long as the object: its streams, its mask.
        self._keeps = keeps

    def read(self, exporter):
        self.reads += 1
        if self.attribute == "missing":
            raise AttributeError("this object shows no interface")
        if self.attribute == "raises":
            raise RuntimeError("this object cannot be exported")
        entries = {
            key: exporter if value is ITSELF else value for key, value in self._entries().items()
        }
        given = {"subclass": Given, "pairs": lambda entries: list(entries.items())}.get(
            self.attribute, dict
        )(entries)
        self._given.append((given, entries))
        return given

    def _entries(self):
        if self.attribute == "changing" and self.reads > 1:
            return {**self.entries, "shape": (1,), "typestr": "|u1"}
        return self.entries

    @property
    def unchanged(self):
        """Whether every dict that was given out is as it was."""
        return all(dict(given) == entries for given, entries in self._given)


class Given(dict):
    """A dict that is not quite one."""


def record_of(exporter):
    return exporter._record


def bytes_of(layout, elements):
    """The memory of an array whose elements, in C order, are these."""
    low, high = layout.span()
    raw = bytearray([GAP]) * (high - low)
    for offset, element in zip(layout.offsets(), elements):
        raw[offset - low : offset - low + len(element)] = element
    return bytes(raw)
