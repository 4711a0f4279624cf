"""CuPy: device and managed memory; `cupy.asarray`, and arguments of ufuncs. It exports the stream that is current."""

import importlib.metadata

import cupy
import cupyx

from . import hostside

_STREAMS = {
    "new": cupy.cuda.Stream,
    "legacy": lambda: cupy.cuda.Stream.null,
    "per_thread": lambda: cupy.cuda.Stream.ptds,
    "default": lambda: cupy.cuda.Stream.null,
}


#: Its wheels are named for the CUDA that they are built for.
_DISTRIBUTION = next(iter(importlib.metadata.packages_distributions().get("cupy", ())), "cupy")


class Producer:
    library = _DISTRIBUTION

    def __init__(self):
        #: Asynchronous copies need where they go for as long as they take.
        self._copies = []

    def stream(self, kind):
        return _STREAMS[kind]()

    def array(self, spec):
        if spec.read_only or spec.mask is not None:
            raise NotImplementedError("CuPy has no read-only and no masked arrays")
        if spec.memory not in ("device", "managed"):
            raise NotImplementedError(f"CuPy makes no device arrays of {spec.memory} memory")
        host = hostside.filled(spec)
        if host.dtype.kind not in "biufcV" or not host.dtype.isnative:
            raise NotImplementedError("CuPy has numbers and structures alone, in native byte order")
        if spec.stream is not None:
            # An array of CuPy belongs to no stream: what is current when it is exported is
            # exported.
            spec.stream.use()
        memory = cupy.cuda.malloc_managed(host.nbytes) if spec.memory == "managed" else None
        made = cupy.ndarray(
            host.shape, host.dtype, memptr=memory, order="F" if spec.layout == "fortran" else "C"
        )
        made.set(host)
        return made

    def view(self, array, way, value):
        return (
            cupy.broadcast_to(array, value)
            if way == "broadcast_to"
            else hostside.view(array, way, value)
        )

    def write(self, array, stream, byte):
        _fill(array, stream, byte)

    def read(self, array, stream):
        self._copies.append(cupyx.empty_pinned(array.shape, array.dtype))
        array.get(stream=stream, out=self._copies[-1], blocking=False)


class Consumer:
    library = _DISTRIBUTION

    def stream(self, kind):
        return _STREAMS[kind]()

    def accept(self, exporter, ignore_stream):
        if ignore_stream:
            raise NotImplementedError(
                "CUPY_CUDA_ARRAY_INTERFACE_SYNC is read once, when CuPy is imported"
            )
        return cupy.asarray(exporter)

    def describe(self, array):
        return {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "strides": array.strides,
            "pointer": array.data.ptr,
            "valid": None,
        }

    def read(self, array):
        return array.get()

    def write(self, array, byte):
        _fill(array, None, byte)

    def launch(self, exporters, stream):
        if len(exporters) not in _FUNCTIONS:
            raise NotImplementedError(f"no ufunc of {len(exporters)} arguments is at hand")
        with stream or cupy.cuda.get_current_stream():
            _FUNCTIONS[len(exporters)](*exporters)

    def export(self, array):
        return array


#: Ufuncs take objects with the attribute; most functions of CuPy do not.
_FUNCTIONS = {1: cupy.negative, 2: cupy.add}


def _fill(array, stream, byte):
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise NotImplementedError("bytes are written to contiguous arrays alone")
    array.data.memset_async(byte, array.nbytes, stream=stream or cupy.cuda.get_current_stream())
