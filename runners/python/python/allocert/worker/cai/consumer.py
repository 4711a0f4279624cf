"""The operations on a subject that takes the arrays of others. The worker is the producer."""

import ctypes
import itertools
import math
import weakref

from ..operation import operation
from ..outcome import Declined
from ..peek import read
from ..text import bounded, type_name
from . import data
from .element import Element
from .exporter import BEHIND, GAP, ITSELF, Exporter, Record, bytes_of, record_of
from .layout import Layout
from .said import Said
from .shared import gathered

_PLAIN = (bool, int, float, str, type(None))
#: So many items of what an adapter says are reported.
_ITEMS = 64


@operation
def produce(case, _on, arguments):
    typestr = arguments.get("typestr", "<f4")
    element = Element(typestr)
    layout = Layout(arguments["shape"], arguments.get("strides"), element.size_bytes)
    low, high = layout.span()
    kind = arguments.get("memory", "device")
    memory = case.device.allocate(kind, high - low)
    if kind != "none":
        _fill(case, memory, layout, element, arguments)
    stream, mask = case.named(arguments, "stream"), case.named(arguments, "mask")
    pointer = memory.base - low if layout.elements else 0
    entries = _entries(arguments, layout, typestr, pointer, stream, mask)
    record = Record(
        memory, layout, typestr, entries, arguments.get("attribute", "plain"), (stream, mask)
    )
    case.names.bind(arguments["as"], Exporter(record))
    return {
        "pointer": pointer,
        "base": memory.base,
        "size_bytes": memory.size_bytes,
        "keys": sorted(entries),
    }


def _fill(case, memory, layout, element, arguments):
    if arguments.get("counting"):
        raw = bytes_of(layout, (element.count(index) for index in range(layout.elements)))
    else:
        raw = bytes([arguments.get("byte", 0)]) * memory.size_bytes
    raw += bytes([GAP]) * BEHIND
    if memory.host is None:
        case.device.write(memory.base, raw)
    else:
        ctypes.memmove(memory.host, raw, len(raw))


def _entries(arguments, layout, typestr, pointer, stream, mask):
    entries = {
        "shape": layout.shape,
        "typestr": typestr,
        "data": (pointer, arguments.get("read_only", False)),
        "version": arguments.get("version", 3),
    }
    if arguments.get("strides") is not None:
        entries["strides"] = layout.strides
    if stream is not None:
        entries["stream"] = stream.handle
    if mask is not None:
        entries["mask"] = mask
    for key, value in arguments.get("set", {}).items():
        entries[key] = _value(value, pointer)
    for key in arguments.get("omit", ()):
        entries.pop(key, None)
    return entries


def _value(value, pointer):
    """Plain values mean themselves and a list means a tuple; a mapping says its `type`."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list):
        return tuple(_value(one, pointer) for one in value)
    kind = value["type"]
    if kind == "pointer":
        return pointer + value.get("plus", 0)
    if kind in ("list", "tuple"):
        items = [_value(one, pointer) for one in value["items"]]
        return items if kind == "list" else tuple(items)
    if kind in ("itself", "object"):
        return ITSELF if kind == "itself" else object()
    if kind == "dict":
        return {key: _value(one, pointer) for key, one in value["entries"].items()}
    return {"int": int, "float": float, "str": str, "bool": bool}[kind](value["value"])


@operation
def pend(case, _on, arguments):
    record = record_of(case.names.get(arguments["on"]))
    stream = case.names.get(arguments["stream"])
    case.device.fill(record.memory.base, arguments["byte"], record.memory.size_bytes, stream.handle)


@operation
def reuse(case, on, arguments):
    """The producer's next work, as soon as control has come back to it."""
    pend(case, on, arguments)


def accept(case, _on, arguments):
    exporter = case.names.get(arguments["of"])
    imported = case.adapted("accept")(exporter, arguments.get("ignore_stream", False))
    case.names.bind(arguments["as"], Imported(imported, exporter))
    keeps = bool(read(case.adapter(), "keeps_owner", True))
    return {**_described(case, imported, exporter), **_use(exporter), "keeps_owner": keeps}


operation(accept, "import")


class Imported:
    """What the subject made of an exporter."""

    def __init__(self, value, exporter):
        # Not the exporter itself: whether it lives on is up to the subject.
        self.value = value
        try:
            self._exporter = weakref.ref(exporter)
        except TypeError:  # a class of another library, whose life nobody asks about
            self._exporter = lambda: exporter
        self._typestr = record_of(exporter).typestr if isinstance(exporter, Exporter) else None

    @property
    def typestr(self):
        """What the exporter said of its elements: where it is another library's, it is asked again."""
        return self._typestr or self._exporter().__cuda_array_interface__["typestr"]


def _described(case, imported, exporter):
    describe = read(case.adapter(), "describe")
    if not callable(describe):
        return {"type": type_name(imported)}
    described = describe(imported)
    return {"type": type_name(imported), **_believed(described, exporter)}


def _believed(described, exporter):
    if not isinstance(described, dict):
        raise TypeError(
            f"the adapter describes an array by a dict, and not by a {type_name(described)}"
        )
    found = {
        bounded(name, 50): _plain(value)
        for name, value in itertools.islice(described.items(), _ITEMS)
    }
    if found.get("valid", ()) is None and isinstance(exporter, Exporter):
        # The library tells elements apart by no mask: all are data to it.
        found["valid"] = [True] * min(record_of(exporter).layout.elements, _ITEMS)
    return found


def _plain(value):
    if isinstance(value, (tuple, list)):
        return [_scalar(one) for one in value[:_ITEMS]]
    return _scalar(value)


def _scalar(value):
    if value is None or type(value) is bool or type(value) is float and math.isfinite(value):
        return value
    return value if type(value) is int and -(1 << 63) <= value < 1 << 64 else bounded(value, 200)


def _use(exporter):
    """What became of the exporter's attribute so far; nothing is known of one that is not the worker's."""
    if not isinstance(exporter, Exporter):
        return {}
    record = record_of(exporter)
    return {"attribute_reads": record.reads, "unchanged": record.unchanged}


@operation
def access(case, _on, arguments):
    imported = case.names.get(arguments["on"])
    if arguments.get("write") is not None:
        case.adapted("write")(imported.value, arguments["write"])
        return {}
    return data.of_host(case.adapted("read")(imported.value), imported)


@operation
def launch(case, _on, arguments):
    exporters = [case.names.get(name) for name in arguments["on"]]
    believed = case.adapted("launch")(exporters, case.named(arguments, "stream"))
    if believed is None:
        if arguments.get("believed"):
            raise Declined("the adapter does not say what the library took the arguments for")
        believed = [{}] * len(exporters)
    return {
        name: {**_believed(one, exporter), **_use(exporter)}
        for name, exporter, one in zip(arguments["on"], exporters, believed)
    }


@operation
def inspect(case, _on, arguments):
    """The producer reads its own data on its own stream; without a stream after everything else."""
    record = record_of(case.names.get(arguments["on"]))
    stream = case.named(arguments, "stream")
    if stream is None:
        case.device.synchronize_all()
        stream = case.device.own
    low, high = record.layout.span()
    raw = case.device.read(record.memory.base, high - low + BEHIND, stream.handle)
    found = data.of_bytes(gathered(raw, low, record.layout), record.typestr)
    return {**found, "beside": data.uniform(record.layout.beside(raw))}


@operation
def release(case, _on, arguments):
    memory, stream = (
        record_of(case.names.get(arguments["on"])).memory,
        case.named(arguments, "stream"),
    )
    if stream is None:
        memory.free()
    else:
        memory.free(lambda: case.device.free_in_order(memory.base, stream.handle))


@operation
def reexport(case, _on, arguments):
    exported = case.adapted("export")(case.names.get(arguments["of"]).value)
    said = Said(exported.__cuda_array_interface__)
    case.names.bind(arguments["as"], said)
    return said.facts(case.device)
