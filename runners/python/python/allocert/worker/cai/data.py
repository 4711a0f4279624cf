"""The facts of data that were read."""

from .element import Element, plain

#: So many values are reported one by one.
VALUES = 256


def of_bytes(data, typestr):
    """Of the elements one after the other."""
    element = Element(typestr)
    size = element.size_bytes
    found = {"uniform": uniform(data), "bytes_read": len(data)}
    if size and len(data) <= VALUES * size:
        found["values"] = [element.value(data[at : at + size]) for at in range(0, len(data), size)]
    return found


def of_host(host, imported):
    """Of what an adapter read: bytes in C order, or an array of NumPy's."""
    if isinstance(host, (bytes, bytearray, memoryview)):
        return of_bytes(bytes(host), imported.typestr)
    # Of a masked array the data below the mask: what of it is valid, `describe` says.
    host = host.data if hasattr(host, "mask") else host
    data = host.tobytes()
    found = {"uniform": uniform(data), "bytes_read": len(data)}
    if host.dtype.kind in "SUV":
        return of_bytes(data, f"|V{host.dtype.itemsize}")
    # Dates and time spans are the numbers that they are stored as.
    counted = host.view(f"{host.dtype.byteorder}i8") if host.dtype.kind in "mM" else host
    flat = counted.ravel().tolist()
    if len(flat) <= VALUES:
        found["values"] = [_scalar(value) for value in flat]
    return found


def uniform(data):
    """The byte that all of `data` is made of, or None."""
    return data[0] if data and data.count(data[0]) == len(data) else None


def _scalar(value):
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    return plain(value) if isinstance(value, (bool, int, float)) else str(value)[:100]
