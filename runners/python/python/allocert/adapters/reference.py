"""allocert.cai: the reference, `Array` and its views."""

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
        fields = [(name, typestr, shape) if shape else (name, typestr) for name, typestr, shape in spec.fields]
        order = "F" if spec.layout == "fortran" else "C"
        made = cai.Array(
            spec.shape, spec.typestr, order=order, stream=spec.stream, mask=spec.mask, descr=fields or None
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
