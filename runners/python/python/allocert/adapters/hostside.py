"""What adapters share: the host's picture of an array that a case asks for. Needs NumPy, as every library here does."""

import numpy


def filled(spec):
    """The array that `spec` asks for, on the host, in the order of axes that it asks for."""
    array = numpy.frombuffer(spec.data, dtype(spec)).reshape(spec.shape)
    return numpy.array(array, order="F" if spec.layout == "fortran" else "C")


def dtype(spec):
    """The NumPy type of its elements, fields and sub-arrays included."""
    if not spec.fields:
        return numpy.dtype(spec.typestr)
    return numpy.dtype(
        [
            (name, typestr, shape) if shape else (name, typestr)
            for name, typestr, shape in spec.fields
        ]
    )


def view(array, way, value):
    """A view as a library with NumPy's methods makes it; NotImplementedError where it has no such method."""
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


def span(shape, strides, size):
    """From the first element's first byte: the lowest byte of all, and the one after the highest."""
    if 0 in shape:
        return 0, 0
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    return sum(reach for reach in reaches if reach < 0), sum(
        reach for reach in reaches if reach > 0
    ) + size


def gathered(raw, low, shape, strides, dtype):
    """The array whose elements lie in these bytes, of which the first is `low` from its first element's."""
    return numpy.ndarray(tuple(shape), dtype, buffer=raw, offset=-low, strides=strides).copy()
