"""The operations that cases of both sides have: streams, the adapter itself, and what any conforming consumer does."""

from ..operation import operation
from . import data
from .said import Unusable

#: More than a case asks for; what says so is not believed.
SPAN_BYTES = 1 << 26


@operation
def instantiate(case, _on, arguments):
    case.names.bind(arguments["as"], case.adapter_class()())


@operation
def stream(case, _on, arguments):
    made = case.device.stream(arguments["kind"])
    case.names.bind(arguments["as"], made)
    return {"handle": made.handle}


@operation
def subject_stream(case, _on, arguments):
    case.names.bind(arguments["as"], case.adapted("stream")(arguments["kind"]))


@operation
def synchronize(case, _on, arguments):
    case.device.synchronize(case.names.get(arguments["stream"]).handle)


@operation
def alive(case, _on, arguments):
    return {"alive": case.names.alive(arguments["of"])}


@operation
def consume(case, _on, arguments):
    """Waits for the stream that was given, for nothing where none was, and copies the data on a stream of its own. With `mask`
    the data of the mask, which is waited for as any other."""
    said = case.names.get(arguments["export"])
    said = said.mask() if arguments.get("mask") else said
    device, own = case.device, case.device.own.handle
    layout, pointer, typestr = said.layout(), said.pointer, said.typestr
    low, high = layout.span()
    if high - low > SPAN_BYTES:
        raise Unusable(f"the array reaches over {high - low} bytes")
    if said.stream is not None:
        device.order(said.stream, own)
    raw = device.read(pointer + low, high - low, own)
    return data.of_bytes(gathered(raw, low, layout), typestr)


def gathered(raw, low, layout):
    """The elements in C order, out of the bytes from offset `low` on."""
    size = layout.element_bytes
    return b"".join(raw[offset - low : offset - low + size] for offset in layout.offsets())
