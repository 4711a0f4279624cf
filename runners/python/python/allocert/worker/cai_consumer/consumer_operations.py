"""The operations on a subject that takes arrays. The worker is their producer."""

import ctypes
import itertools
import math
import weakref
from collections.abc import Callable
from typing import Any

from ..cai_shared import data_facts
from ..cai_shared.case import AdapterCase, Imported
from ..cai_shared.element import Element
from ..cai_shared.exported_interface import ExportedInterface
from ..cai_shared.layout import Layout, strides_of
from ..cai_shared.typestr import canonical
from ..device import Memory
from ..operations import Arguments, Facts, OperationTable
from ..outcome import Declined
from ..safe_access import read_attribute
from ..safe_text import bounded, type_name
from ..uniform import uniform_byte
from .exporter import (
    GAP_BYTE,
    ITSELF,
    TRAILING_BYTES,
    Exporter,
    ExportRecord,
    exporter_of,
    memory_image,
    record_of,
)

OPERATIONS: OperationTable[AdapterCase] = OperationTable()

_PLAIN = (bool, int, float, str, type(None))
#: Items that are reported of what an adapter describes.
_ITEM_LIMIT = 64


@OPERATIONS.register
def produce(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    typestr = arguments.get("typestr", "<f4")
    element = Element(typestr)
    shape, strides = arguments["shape"], arguments.get("strides")
    if strides is None:
        strides = strides_of(arguments.get("layout", "c"), shape, element.size_bytes)
    layout = Layout(shape, strides, element.size_bytes)
    low, high = layout.span()
    kind, owner = arguments.get("memory", "device"), case.named(arguments, "memory_of")
    offset_bytes = arguments.get("offset_bytes", 0)
    if owner is not None:
        memory = _part(owner, offset_bytes, high - low)
    else:
        memory = case.device.allocate(kind, offset_bytes + high - low)
        memory.skip(offset_bytes)
    if kind != "none":
        _fill(case, memory, layout, element, arguments)
    stream, mask = case.named(arguments, "stream"), case.named(arguments, "mask")
    pointer = memory.base - low if layout.elements else 0
    entries = _entries(arguments, layout, typestr, pointer, stream, mask)
    attribute = arguments.get("attribute", "plain")
    wait = case.device.synchronize_all
    later = case.named(arguments, "becomes")
    becomes = None if later is None else record_of(later)
    kept = (stream, mask, owner, later)
    record = ExportRecord(memory, layout, typestr, entries, attribute, becomes, kept, wait)
    case.bindings.bind(arguments["as"], exporter_of(record, case.named(arguments, "object_of")))
    return {
        "pointer": pointer,
        "base": memory.base,
        "size_bytes": memory.size_bytes,
        "keys": sorted(entries),
    }


def _part(owner: Exporter, offset_bytes: int, size_bytes: int) -> Memory:
    """Memory of another object, which frees it."""
    memory, end = record_of(owner).memory, offset_bytes + size_bytes
    if end > memory.size_bytes:
        raise ValueError(f"{end} bytes are more than the {memory.size_bytes} of the object")
    part = Memory(memory.base, end, memory.host, None)
    part.skip(offset_bytes)
    return part


def _fill(
    case: AdapterCase, memory: Memory, layout: Layout, element: Element, arguments: Arguments
) -> None:
    if arguments.get("counting"):
        raw = memory_image(layout, (element.count(index) for index in range(layout.elements)))
    else:
        raw = bytes([arguments.get("byte", 0)]) * memory.size_bytes
    gap = bytes([GAP_BYTE])
    raw = gap * memory.offset_bytes + raw + gap * TRAILING_BYTES
    if memory.host is None:
        case.device.write(memory.allocation, raw)
    else:
        ctypes.memmove(memory.host - memory.offset_bytes, raw, len(raw))


def _entries(
    arguments: Arguments, layout: Layout, typestr: str, pointer: int, stream: Any, mask: Any
) -> dict[str, Any]:
    """The entries of the dict, true ones first; `set` and `omit` then change them."""
    entries = {
        "shape": layout.shape,
        "typestr": typestr,
        "data": (pointer, arguments.get("read_only", False)),
        "version": arguments.get("version", 3),
    }
    if layout.explicit:
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


def _value(value: Any, pointer: int) -> Any:
    """A value of `set`: plain values mean themselves, a list a tuple; a mapping has a `type`."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list):
        return tuple(_value(item, pointer) for item in value)
    make: dict[str, Callable[[], Any]] = {
        "pointer": lambda: pointer + value.get("plus", 0),
        "list": lambda: [_value(item, pointer) for item in value["items"]],
        "tuple": lambda: tuple(_value(item, pointer) for item in value["items"]),
        "dict": lambda: {key: _value(entry, pointer) for key, entry in value["entries"].items()},
        "itself": lambda: ITSELF,
        "object": object,
        "int": lambda: int(value["value"]),
        "float": lambda: float(value["value"]),
        "str": lambda: str(value["value"]),
        "bool": lambda: bool(value["value"]),
    }
    return make[value["type"]]()


@OPERATIONS.register
def pend(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    memory = record_of(case.bindings.get(arguments["on"])).memory
    stream = case.bindings.get(arguments["stream"])
    case.device.fill(memory.base, arguments["byte"], memory.size_bytes, stream.handle)


@OPERATIONS.register
def pend_behind(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    memory = record_of(case.bindings.get(arguments["on"])).memory
    stream = case.bindings.get(arguments["stream"])
    behind = memory.base + memory.size_bytes
    case.device.fill(behind, arguments["byte"], TRAILING_BYTES, stream.handle)


@OPERATIONS.register
def pend_in_front(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    memory = record_of(case.bindings.get(arguments["on"])).memory
    stream = case.bindings.get(arguments["stream"])
    case.device.fill(memory.allocation, arguments["byte"], memory.offset_bytes, stream.handle)


@OPERATIONS.register
def order(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    """What a user does who knows that work in one stream comes before work in another."""
    earlier, later = case.bindings.get(arguments["after"]), case.bindings.get(arguments["stream"])
    case.device.order(earlier.handle, later.handle)


@OPERATIONS.register
def reuse(case: AdapterCase, on: str, arguments: Arguments) -> None:
    """The producer's next work, enqueued as soon as the subject has returned."""
    pend(case, on, arguments)


@OPERATIONS.register
def use_stream(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    case.adapter_method("use_stream")(case.bindings.get(arguments["stream"]))


@OPERATIONS.register_as("import")
def import_exporter(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    exporter = case.bindings.get(arguments["of"])
    value = case.adapter_method("accept")(exporter, arguments.get("ignore_stream", False))
    descr = record_of(exporter).descr if isinstance(exporter, Exporter) else None
    case.bindings.bind(arguments["as"], Imported(value, _typestr_reader(exporter), descr))
    keeps = bool(read_attribute(case.adapter(), "keeps_owner", True))
    described = _described(case, value, exporter)
    if arguments.get("first_use") and "shape" not in described:
        case.adapter_method("read")(value)
    return {**described, **_use(exporter), "keeps_owner": keeps}


def _typestr_reader(exporter: Any) -> Callable[[], str]:
    """Gives the typestr of an exporter's elements; that of another library is read again.

    It keeps the exporter alive only if there is no other way, because the subject decides when
    the exporter dies.
    """
    if isinstance(exporter, Exporter):
        typestr = record_of(exporter).typestr
        return lambda: typestr
    try:
        reference = weakref.ref(exporter)
    except TypeError:  # a class of another library, whose life no case asks about
        return lambda: _typestr(exporter)
    return lambda: _typestr(reference())


def _typestr(exporter: Any) -> str:
    typestr: str = exporter.__cuda_array_interface__["typestr"]
    return typestr


def _described(case: AdapterCase, imported: Any, exporter: Any) -> Facts:
    describe = read_attribute(case.adapter(), "describe")
    if not callable(describe):
        return {"type": type_name(imported)}
    described = describe(imported)
    return {"type": type_name(imported), **_plain_description(described, exporter)}


def _plain_description(described: Any, exporter: Any) -> Facts:
    """The adapter's description of an imported array, as bounded JSON."""
    if not isinstance(described, dict):
        found_type = type_name(described)
        raise TypeError(
            "describe() of the adapter must return a dict,"
            f" but returned an object of type {found_type}"
        )
    found = {
        bounded(name, 50): _plain(value)
        for name, value in itertools.islice(described.items(), _ITEM_LIMIT)
    }
    if isinstance(found.get("typestr"), str):
        found["typestr"] = canonical(found["typestr"])
    if found.get("valid", ()) is None and isinstance(exporter, Exporter):
        # The library has no masks: it takes every element for data.
        found["valid"] = [True] * min(record_of(exporter).layout.elements, _ITEM_LIMIT)
    return found


def _plain(value: Any) -> Any:
    # NumPy's scalars and arrays say what their plain values say.
    value = value.tolist() if hasattr(type(value), "tolist") else value
    if isinstance(value, (tuple, list)):
        return [_plain_scalar(item) for item in value[:_ITEM_LIMIT]]
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    value = value.item() if hasattr(type(value), "item") else value
    if value is None or type(value) is bool:
        return value
    if isinstance(value, int):
        value = int.__index__(value)
    if type(value) is float and math.isfinite(value):
        return value
    return value if type(value) is int and -(1 << 63) <= value < 1 << 64 else bounded(value, 200)


def _use(exporter: Any) -> Facts:
    """What the subject did with the attribute so far; nothing for another library's exporter."""
    if not isinstance(exporter, Exporter):
        return {}
    record = record_of(exporter)
    return {"attribute_reads": record.reads, "unchanged": record.unchanged}


@OPERATIONS.register
def access(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    imported = case.bindings.get(arguments["on"])
    if arguments.get("write") is not None:
        case.adapter_method("write")(imported.value, arguments["write"])
        return {}
    data = case.adapter_method("read")(imported.value)
    if isinstance(data, (bytes, bytearray, memoryview)):
        return data_facts.of_bytes(bytes(data), imported.typestr, imported.descr)
    return data_facts.of_numpy(data, imported.descr)


@OPERATIONS.register
def launch(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    exporters = [case.bindings.get(name) for name in arguments["on"]]
    described = case.adapter_method("launch")(exporters, case.named(arguments, "stream"))
    if described is None:
        if arguments.get("believed"):
            raise Declined("the adapter does not say what the library took the arguments for")
        described = [{}] * len(exporters)
    return {
        name: {**_plain_description(belief, exporter), **_use(exporter)}
        for name, exporter, belief in zip(arguments["on"], exporters, described, strict=False)
    }


@OPERATIONS.register
def inspect(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    """The producer reads its data on a stream of its own, or after all work without one."""
    record = record_of(case.bindings.get(arguments["on"]))
    stream = case.named(arguments, "stream")
    if stream is None:
        case.device.synchronize_all()
        stream = case.device.own
    low, high = record.layout.span()
    front = record.memory.offset_bytes
    size_bytes = front + high - low + TRAILING_BYTES
    raw = case.device.read(record.memory.allocation, size_bytes, stream.handle)
    in_front, raw = raw[:front], raw[front:]
    found = data_facts.of_bytes(record.layout.gathered(raw), record.typestr)
    beside = in_front + record.layout.between_elements(raw)
    return {**found, "beside": uniform_byte(beside)}


@OPERATIONS.register
def release(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    memory = record_of(case.bindings.get(arguments["on"])).memory
    stream = case.named(arguments, "stream")
    if stream is None:
        memory.free()
    else:
        memory.free(lambda: case.device.free_in_order(memory.allocation, stream.handle))


@OPERATIONS.register
def reexport(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    exported = case.adapter_method("export")(case.bindings.get(arguments["of"]).value)
    try:
        attribute = exported.__cuda_array_interface__
    except AttributeError as error:
        # No text asks a consumer to export what it imports.
        raise Declined(f"the export has no interface: {bounded(error, 300)}") from None
    # The export may be a copy, whose memory the exported object owns.
    interface = ExportedInterface(attribute, owner=exported)
    case.bindings.bind(arguments["as"], interface)
    return interface.facts(case.device)
