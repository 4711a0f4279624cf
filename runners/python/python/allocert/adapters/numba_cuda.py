"""numba-cuda: device, managed and mapped arrays; `as_cuda_array`, and arguments of kernels."""

import numpy
from numba import cuda, types
from numba.cuda.cudadrv.driver import device_memset

from . import hostside

_STREAMS = {
    "new": cuda.stream,
    "legacy": cuda.legacy_default_stream,
    "per_thread": cuda.per_thread_default_stream,
    "default": cuda.default_stream,
}


class Producer:
    library = "numba-cuda"

    def stream(self, kind):
        return _STREAMS[kind]()

    def array(self, spec):
        if spec.read_only or spec.mask is not None:
            raise NotImplementedError("numba-cuda has no read-only and no masked device arrays")
        host, stream = hostside.filled(spec), spec.stream or 0
        if spec.memory == "device":
            return cuda.to_device(host, stream=stream)
        if spec.memory == "pinned":
            raise NotImplementedError(
                "a pinned array of numba-cuda is NumPy's and has no device interface"
            )
        make = cuda.managed_array if spec.memory == "managed" else cuda.mapped_array
        made = make(
            host.shape, host.dtype, order="F" if spec.layout == "fortran" else "C", stream=stream
        )
        made[...] = host
        return made

    def view(self, array, way, value):
        if isinstance(array, numpy.ndarray):
            raise NotImplementedError(
                "a view of a managed or mapped array is NumPy's and has no device interface"
            )
        if way == "slice" and any(one is None for one in value):
            raise NotImplementedError("device arrays take no new axes")
        if way == "transpose" and array.ndim == 2:
            raise NotImplementedError("transposing copies")
        if way == "byteswapped":
            raise NotImplementedError("device arrays cannot be byteswapped")
        if way == "broadcast_to":
            return cuda.to_device(numpy.broadcast_to(array.copy_to_host(), value))
        return hostside.view(array, way, value)

    def write(self, array, stream, byte):
        stream = stream or array.stream or cuda.default_stream()
        device_memset(array, byte, array.nbytes, stream=stream)

    def read(self, array, stream):
        # Without a stream, the array's own included, copying waits.
        array.copy_to_host(cuda.pinned_array(array.shape, array.dtype), stream=stream or 0)

    def plain_object(self, kind):
        return cuda.pinned_array(4, numpy.float32)


class Consumer:
    library = "numba-cuda"

    def stream(self, kind):
        return _STREAMS[kind]()

    def accept(self, exporter, ignore_stream):
        return cuda.as_cuda_array(exporter, sync=not ignore_stream)

    def describe(self, array):
        return {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "strides": array.strides,
            "pointer": array.device_ctypes_pointer.value or 0,
            "stream": int(array.stream) if array.stream else None,
            "valid": None,
        }

    def read(self, array):
        return array.copy_to_host()

    def write(self, array, byte):
        if not array.is_c_contiguous():
            raise NotImplementedError("device_memset knows no strides")
        device_memset(array, byte, array.nbytes, stream=array.stream or cuda.default_stream())

    def launch(self, exporters, stream):
        if len(exporters) not in _KERNELS:
            raise NotImplementedError(f"no kernel of {len(exporters)} arguments is at hand")
        # A dispatcher of its own for each launch: what it compiled is what these arguments were
        # taken for.
        kernel = cuda.jit(_KERNELS[len(exporters)])
        kernel[1, 1, stream or 0](*exporters)
        (signature,) = kernel.overloads
        return [_taken_for(exporter, kind) for exporter, kind in zip(exporters, signature)]

    def export(self, array):
        return array


class Described(Consumer):
    """By `from_cuda_array_interface`, which keeps no reference to the owner."""

    keeps_owner = False

    def accept(self, exporter, ignore_stream):
        return cuda.from_cuda_array_interface(
            exporter.__cuda_array_interface__, sync=not ignore_stream
        )


def _taken_for(exporter, kind):
    """A kernel compiled for C or Fortran order does not look at strides, and takes any others from the array."""
    said = exporter.__cuda_array_interface__
    strides, element = said.get("strides"), numpy.dtype(said["typestr"]).itemsize
    if kind.layout != "A" or strides is None:
        strides = _contiguous(said["shape"], element, kind.layout)
    return {
        "shape": said["shape"],
        "strides": strides,
        "read_only": not kind.mutable,
        "valid": None,
    }


def _contiguous(shape, step, layout):
    """The strides of arrays of this order without gaps."""
    strides = []
    for extent in shape if layout == "F" else reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(strides if layout == "F" else reversed(strides))


def _one(first):
    first.size


def _two(first, second):
    first.size, second.size


def _three(first, second, third):
    first.size, second.size, third.size


#: What kernels do with their arguments shows on a GPU alone; which arguments they have shows everywhere.
_KERNELS = {1: _one, 2: _two, 3: _three}


def _begin():
    """The first compilation loads half a second of compiler. Cases run in forks of this process, and each would load it anew."""
    try:
        cuda.compile(_one, (types.Array(types.float32, 1, "C"),), cc=(9, 0))
    except Exception:
        pass  # Without a compiler `launch` raises, in the cases that launch.


_begin()
