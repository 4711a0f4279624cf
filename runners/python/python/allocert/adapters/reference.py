"""allocert.cai: the reference, `Array` and its views, `from_interface` and what it returns."""

from typing import Any

import numpy

from .array_spec import ArraySpec, Description

try:
    from allocert import cai
except ImportError as error:
    raise ImportError(
        "the reference is in the package allocert, which this interpreter lacks:"
        f" pip install allocert ({error})"
    ) from None

_STREAMS = {"legacy": cai.LEGACY, "per_thread": cai.PER_THREAD, "default": cai.LEGACY}


class Producer:
    """Makes `allocert.cai.Array` and views of it."""

    library = "allocert"

    def __init__(self) -> None:
        #: The targets of copies, which must live until the copies end.
        self._copies: list[cai.Array] = []

    def stream(self, kind: str) -> cai.Stream:
        return cai.Stream() if kind == "new" else cai.Stream(_STREAMS[kind])

    def array(self, spec: ArraySpec) -> cai.Array:
        if spec.memory != "device":
            raise NotImplementedError(f"the reference has no arrays in {spec.memory} memory")
        fields = [
            (name, typestr, shape) if shape else (name, typestr)
            for name, typestr, shape in spec.fields
        ]
        made = cai.Array(
            spec.shape,
            spec.typestr,
            order="F" if spec.layout == "fortran" else "C",
            stream=spec.stream,
            mask=spec.mask,
            descr=fields or None,
        )
        made.write(spec.data)
        return made.as_read_only() if spec.read_only else made

    def view(self, array: cai.Array, way: str, value: Any) -> cai.Array:
        if way == "slice" and all(axis is not None for axis in value):
            return array[value]
        if way == "transpose":
            return array.T
        if way == "broadcast_to":
            return array.broadcast_to(value)
        raise NotImplementedError(f"the reference has no view by {way}")

    def write(self, array: cai.Array, stream: cai.Stream | None, byte: int) -> None:
        if array.read_only:
            raise NotImplementedError("nobody writes to a read-only array of the reference")
        array.fill(byte, stream or cai.LEGACY)

    def read(self, array: cai.Array, stream: cai.Stream | None) -> None:
        target = cai.Array(array.shape, array.typestr)
        self._copies.append(target)
        target.copy_from(array, stream or cai.LEGACY)


class Consumer:
    """Takes arrays by `allocert.cai.from_interface`."""

    library = "allocert"

    def accept(self, exporter: Any, ignore_stream: bool) -> cai.Imported:
        return cai.from_interface(exporter, ignore_stream=ignore_stream)

    def describe(self, imported: cai.Imported) -> Description:
        described = {
            "shape": imported.shape,
            "typestr": imported.typestr,
            "strides": imported.strides,
            "pointer": imported.pointer,
            "read_only": imported.read_only,
            "stream": imported.stream,
            "valid": None,
        }
        if imported.mask is not None:
            valid = numpy.asarray(imported.mask) != 0
            described["valid"] = numpy.broadcast_to(valid, imported.shape).ravel().tolist()
        return described

    def read(self, imported: cai.Imported) -> "numpy.ndarray[Any, Any]":
        if imported.typestr[1] == "O":
            raise NotImplementedError("objects cannot be read")
        return numpy.asarray(imported)

    def write(self, imported: cai.Imported, byte: int) -> None:
        imported.fill(byte)

    def launch(self, exporters: list[Any], stream: cai.Stream | None) -> list[Description]:
        """Imports each array, and fills or reads it once: the reference has no kernels."""
        if stream is not None:
            raise NotImplementedError("the reference takes no stream for its work")
        taken = [cai.from_interface(exporter) for exporter in exporters]
        for imported in taken:
            if imported.read_only:
                imported.read()
            else:
                imported.fill(0)
        return [self.describe(imported) for imported in taken]

    def export(self, imported: cai.Imported) -> cai.Imported:
        return imported
