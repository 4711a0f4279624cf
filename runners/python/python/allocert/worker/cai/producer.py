"""The operations on a subject that makes arrays."""

from types import SimpleNamespace

from ..operation import operation
from ..peek import read
from .element import Element
from .said import ATTRIBUTE, Said


@operation
def array(case, _on, arguments):
    asked = _asked(case, arguments)
    made = case.adapted("array")(asked)
    # No work is left, whatever the library does to fill it: the case begins here.
    case.device.synchronize_all()
    case.names.bind(arguments["as"], made)
    # Of what the library has no writable kind, every array is one that must not be written.
    return {"read_only": asked.read_only or bool(read(case.adapter(), "immutable", False))}


def _asked(case, arguments):
    """What an adapter is asked to make. `data` are the elements in C order."""
    typestr, shape = arguments.get("typestr", "<f4"), tuple(arguments["shape"])
    fields = [
        (field["name"], field["typestr"], tuple(field.get("shape", ())))
        for field in arguments.get("fields", ())
    ]
    size = _element_bytes(typestr, fields)
    count = 1
    for extent in shape:
        count *= extent
    if arguments.get("counting"):
        element = Element(typestr)
        data = b"".join(element.count(index) for index in range(count))
    else:
        data = bytes([arguments.get("byte", 0)]) * (count * size)
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


def _element_bytes(typestr, fields):
    if not fields:
        return Element(typestr).size_bytes
    total = 0
    for _, of_field, shape in fields:
        size = Element(of_field).size_bytes
        for extent in shape:
            size *= extent
        total += size
    return total


@operation
def derive(case, _on, arguments):
    source = case.names.get(arguments["of"])
    way = next(
        name for name in arguments if name not in ("of", "as") and arguments[name] is not None
    )
    case.names.bind(arguments["as"], case.adapted("view")(source, way, _value(way, arguments[way])))


def _value(way, value):
    if way == "slice":
        return tuple(slice(*one) if isinstance(one, list) else one for one in value)
    return tuple(value) if isinstance(value, list) else value


@operation
def work(case, _on, arguments):
    case.adapted("write")(
        case.names.get(arguments["on"]), case.named(arguments, "stream"), arguments["byte"]
    )


@operation
def read_work(case, _on, arguments):
    case.adapted("read")(case.names.get(arguments["on"]), case.named(arguments, "stream"))


@operation
def plain_object(case, _on, arguments):
    case.names.bind(arguments["as"], case.adapted("plain_object")(arguments["kind"]))


@operation
def has_interface(case, _on, arguments):
    return {"has": hasattr(case.names.get(arguments["of"]), ATTRIBUTE)}


@operation
def export(case, _on, arguments):
    said = Said(getattr(case.names.get(arguments["of"]), ATTRIBUTE))
    case.names.bind(arguments["as"], said)
    return said.facts(case.device)


@operation
def edit_export(case, _on, arguments):
    """What a consumer may do with a dict that it was given."""
    value = case.names.get(arguments["export"]).value
    value["shape"] = (1, 2, 3)
    value["allocert"] = "was here"
