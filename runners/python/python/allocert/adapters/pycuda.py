"""PyCUDA: `GPUArray`; objects as arguments of kernels."""

import numpy
import pycuda.driver as driver
from pycuda import gpuarray

from . import hostside


class Producer:
    library = "pycuda"

    def __init__(self):
        self._context = _context()
        #: Asynchronous copies need where they go for as long as they take.
        self._copies = []

    def stream(self, kind):
        return _stream(kind)

    def array(self, spec):
        if spec.read_only or spec.mask is not None or spec.memory != "device":
            raise NotImplementedError(
                "PyCUDA has neither read-only nor masked arrays, and no arrays of other memory"
            )
        host = hostside.filled(spec)
        made = gpuarray.GPUArray(
            host.shape, host.dtype, order="F" if spec.layout == "fortran" else "C"
        )
        made.set(host)
        return made

    def view(self, array, way, value):
        if way in ("broadcast_to", "byteswapped"):
            raise NotImplementedError(f"no {way}")
        return hostside.view(array, way, value)

    def write(self, array, stream, byte):
        driver.memset_d8_async(array.gpudata, byte, array.nbytes, stream)

    def read(self, array, stream):
        self._copies.append(driver.pagelocked_empty(array.shape, array.dtype))
        driver.memcpy_dtoh_async(self._copies[-1], array.gpudata, stream)


class Consumer:
    library = "pycuda"

    def __init__(self):
        self._context = _context()
        self._module = driver.module_from_buffer(_PTX)

    def stream(self, kind):
        return _stream(kind)

    def launch(self, exporters, stream):
        if len(exporters) > 3:
            raise NotImplementedError(f"no kernel of {len(exporters)} arguments is at hand")
        kernel = self._module.get_function(f"take{len(exporters)}")
        kernel(*exporters, block=(1, 1, 1), grid=(1, 1), stream=stream)
        return [{"valid": None}] * len(exporters)


def _context():
    """The primary context of device 0, current already, as an object of PyCUDA's."""
    driver.init()
    context = driver.Device(0).retain_primary_context()
    context.push()
    return context


def _stream(kind):
    if kind == "new":
        return driver.Stream()
    if kind in ("legacy", "default"):
        return None
    raise NotImplementedError("PyCUDA has no per-thread default stream")


def _kernel(count):
    parameters = ", ".join(f".param .u64 p{index}" for index in range(count))
    return f".visible .entry take{count}({parameters}) {{ ret; }}\n"


_PTX = ".version 8.0\n.target sm_80\n.address_size 64\n" + "".join(
    _kernel(count) for count in (1, 2, 3)
)
_PTX = numpy.frombuffer((_PTX + "\0").encode(), "u1").tobytes()
