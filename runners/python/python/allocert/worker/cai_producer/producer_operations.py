"""The operations on a subject that makes arrays."""

import math
from types import SimpleNamespace
from typing import Any

from ..cai_shared.case import AdapterCase
from ..cai_shared.describe import ATTRIBUTE
from ..cai_shared.element import Element
from ..cai_shared.exported_interface import EDITED_KEY, ExportedInterface
from ..operations import Arguments, Facts, OperationTable
from ..safe_access import read_attribute

OPERATIONS: OperationTable[AdapterCase] = OperationTable()


@OPERATIONS.register
def array(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    spec = _spec(case, arguments)
    made = case.adapter_method("array")(spec)
    if not arguments.get("pending"):
        # The case begins here: whatever the library did to fill the array has ended.
        case.device.synchronize_all()
    case.bindings.bind(arguments["as"], made)
    # A library without writable arrays may say so of each, whatever the case asked for.
    immutable = bool(read_attribute(case.adapter(), "immutable", False))
    return {"read_only": spec.read_only or immutable}


def _spec(case: AdapterCase, arguments: Arguments) -> SimpleNamespace:
    """What the adapter is asked to make (ADAPTERS.md)."""
    typestr, shape = arguments.get("typestr", "<f4"), tuple(arguments["shape"])
    fields = [
        (field["name"], field["typestr"], tuple(field.get("shape", ())))
        for field in arguments.get("fields", ())
    ]
    count = math.prod(shape)
    if arguments.get("counting"):
        element = Element(typestr)
        data = b"".join(element.count(index) for index in range(count))
    else:
        data = bytes([arguments.get("byte", 0)]) * (count * _element_bytes(typestr, fields))
    return SimpleNamespace(
        shape=shape,
        typestr=typestr,
        fields=fields,
        layout=arguments.get("layout", "c"),
        memory=arguments.get("memory", "device"),
        stream=case.named(arguments, "stream"),
        read_only=arguments.get("read_only", False),
        mask=case.named(arguments, "mask"),
        data=data,
    )


def _element_bytes(typestr: str, fields: list[tuple[str, str, tuple[int, ...]]]) -> int:
    if not fields:
        return Element(typestr).size_bytes
    return sum(
        Element(field_typestr).size_bytes * math.prod(shape) for _, field_typestr, shape in fields
    )


@OPERATIONS.register
def derive(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    source = case.bindings.get(arguments["of"])
    ways = [name for name in arguments if name not in ("of", "as") and arguments[name] is not None]
    view = case.adapter_method("view")(source, ways[0], _view_value(ways[0], arguments[ways[0]]))
    case.bindings.bind(arguments["as"], view)


def _view_value(way: str, value: Any) -> Any:
    """The value as an adapter gets it: lists are tuples, and index triples are slices."""
    if way == "slice":
        return tuple(slice(*axis) if isinstance(axis, list) else axis for axis in value)
    return tuple(value) if isinstance(value, list) else value


@OPERATIONS.register
def work(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    target, stream = case.bindings.get(arguments["on"]), case.named(arguments, "stream")
    case.adapter_method("write")(target, stream, arguments["byte"])


@OPERATIONS.register
def read_work(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    source, stream = case.bindings.get(arguments["on"]), case.named(arguments, "stream")
    case.adapter_method("read")(source, stream)


@OPERATIONS.register
def plain_object(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    case.bindings.bind(arguments["as"], case.adapter_method("plain_object")(arguments["kind"]))


@OPERATIONS.register
def has_interface(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    return {"has": hasattr(case.bindings.get(arguments["of"]), ATTRIBUTE)}


@OPERATIONS.register
def export(case: AdapterCase, _on: str, arguments: Arguments) -> Facts:
    exported = ExportedInterface(getattr(case.bindings.get(arguments["of"]), ATTRIBUTE))
    case.bindings.bind(arguments["as"], exported)
    return exported.facts(case.device)


@OPERATIONS.register
def edit_export(case: AdapterCase, _on: str, arguments: Arguments) -> None:
    """Changes a dict that the producer gave out, as a consumer may."""
    # A library may return the same dict again, so no entry changes its meaning.
    case.bindings.get(arguments["export"]).value[EDITED_KEY] = "was here"
