"""allocert.cai: the reference, `Array` and its views, `from_interface` and what it returns."""

import numpy

try:
    from allocert import cai
except ImportError as error:
    raise ImportError(
        f"the reference is in the package allocert, which this interpreter lacks: pip install allocert ({error})"
    ) from None

_STREAMS = {"legacy": cai.LEGACY, "per_thread": cai.PER_THREAD, "default": cai.LEGACY}


class Producer:
    library = "allocert"

    def __init__(self):
        #: What reads go to, as long as they may last.
        self._scratch = []

    def stream(self, kind):
        return cai.Stream() if kind == "new" else cai.Stream(_STREAMS[kind])

    def array(self, spec):
        if spec.memory != "device":
            raise NotImplementedError(f"the reference has no arrays in {spec.memory} memory")
        fields = [
            (name, typestr, shape) if shape else (name, typestr)
            for name, typestr, shape in spec.fields
        ]
        order = "F" if spec.layout == "fortran" else "C"
        made = cai.Array(
            spec.shape,
            spec.typestr,
            order=order,
            stream=spec.stream,
            mask=spec.mask,
            descr=fields or None,
        )
        made.write(spec.data)
        return made.as_read_only() if spec.read_only else made

    def view(self, array, way, value):
        if way == "slice" and all(one is not None for one in value):
            return array[value]
        if way == "transpose":
            return array.T
        if way == "broadcast_to":
            return array.broadcast_to(value)
        raise NotImplementedError(f"the reference has no view by {way}")

    def write(self, array, stream, byte):
        array.fill(byte, stream or cai.LEGACY)

    def read(self, array, stream):
        target = cai.Array(array.shape, array.typestr)
        self._scratch.append(target)
        target.copy_from(array, stream or cai.LEGACY)


class Consumer:
    library = "allocert"

    def accept(self, exporter, ignore_stream):
        return cai.from_interface(exporter, ignore_stream=ignore_stream)

    def describe(self, imported):
        said = {
            "shape": imported.shape,
            "typestr": imported.typestr,
            "strides": imported.strides,
            "pointer": imported.pointer,
            "read_only": imported.read_only,
            "stream": imported.stream,
        }
        said["valid"] = None
        if imported.mask is not None:
            said["valid"] = (
                numpy.broadcast_to(numpy.asarray(imported.mask) != 0, imported.shape)
                .ravel()
                .tolist()
            )
        return said

    def read(self, imported):
        if imported.typestr[1] == "O":
            raise NotImplementedError("objects cannot be read")
        return numpy.asarray(imported)

    def write(self, imported, byte):
        imported.fill(byte)

    def launch(self, exporters, stream):
        """The reference has no kernels: each array is imported, and set or read once."""
        if stream is not None:
            raise NotImplementedError("the reference takes no stream for its work")
        taken = [cai.from_interface(exporter) for exporter in exporters]
        for imported in taken:
            if imported.read_only:
                imported.read()
            else:
                imported.fill(0)
        return [self.describe(imported) for imported in taken]

    def export(self, imported):
        return imported
