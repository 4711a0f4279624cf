"""What adapters compute with NumPy: filled host arrays, views, byte ranges, types.

It needs NumPy, as every library with an adapter does.
"""

from collections.abc import Sequence
from typing import Any

import numpy

from .array_spec import ArraySpec


def filled(spec: ArraySpec) -> "numpy.ndarray[Any, Any]":
    """The array that the specification describes, on the host, in the order that it asks for."""
    kind = dtype(spec)
    if not kind.itemsize:
        # frombuffer refuses such a type, and copies make elements of one character of `|S0`.
        empty: numpy.ndarray[Any, Any] = numpy.ndarray(spec.shape, kind)
        return empty
    array = numpy.frombuffer(spec.data, kind).reshape(spec.shape)
    return numpy.array(array, order="F" if spec.layout == "fortran" else "C")


def dtype(spec: ArraySpec) -> "numpy.dtype[Any]":
    """The NumPy type of its elements, with fields and sub-arrays."""
    if not spec.fields:
        return numpy.dtype(spec.typestr)
    fields: list[Any] = [
        (name, typestr, shape) if shape else (name, typestr) for name, typestr, shape in spec.fields
    ]
    return numpy.dtype(fields)


def view(array: Any, way: str, value: Any) -> Any:
    """A view of an array that has NumPy's methods. Raises NotImplementedError for other ways."""
    if way == "slice":
        return array[value]
    if way == "reshape":
        return array.reshape(value)
    if way == "transpose":
        return array.T
    if way == "dtype":
        return array.view(numpy.dtype(value))
    if way == "byteswapped":
        return array.view(array.dtype.newbyteorder())
    raise NotImplementedError(f"no {way}")


def span(shape: Sequence[int], strides: Sequence[int], element_bytes: int) -> tuple[int, int]:
    """The offsets of the lowest byte of an array, and of the byte after the highest.

    Offsets count from the first byte of the element with all indices 0; strides are bytes.
    """
    if 0 in shape:
        return 0, 0
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    low = sum(reach for reach in reaches if reach < 0)
    return low, sum(reach for reach in reaches if reach > 0) + element_bytes


def gathered(
    raw: Any, low: int, shape: Sequence[int], strides: Sequence[int], dtype: "numpy.dtype[Any]"
) -> "numpy.ndarray[Any, Any]":
    """The array whose elements lie in these bytes; the first byte has the offset `low`."""
    found: numpy.ndarray[Any, Any]
    found = numpy.ndarray(tuple(shape), dtype, buffer=raw, offset=-low, strides=strides).copy()
    return found
