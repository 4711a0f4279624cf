"""cuda.core: `StridedMemoryView`, which orders its data before the stream that it is given. It produces no arrays.

A view is what users hand to kernels and copies of their own, on that stream, and waits for are theirs to add; so `read` copies and
waits, as they would, and nothing writes.
"""

import numpy
from cuda.bindings import driver
from cuda.core import Device
from cuda.core.utils import StridedMemoryView

from . import hostside


class Consumer:
    library = "cuda-core"

    def __init__(self):
        device = Device(0)
        device.set_current()
        self._stream = device.create_stream()

    def accept(self, exporter, ignore_stream):
        stream = -1 if ignore_stream else int(self._stream.handle)
        return StridedMemoryView.from_cuda_array_interface(exporter, stream_ptr=stream)

    def describe(self, view):
        return {
            "shape": tuple(view.shape),
            "typestr": view.dtype.str,
            "strides": None if view.strides is None else _byte_strides(view),
            "pointer": view.ptr,
            "read_only": view.readonly,
            "valid": None,
        }

    def read(self, view):
        low, high = hostside.span(view.shape, _byte_strides(view), view.dtype.itemsize)
        raw = numpy.empty(high - low, numpy.uint8)
        if raw.size:
            _done(
                driver.cuMemcpyDtoHAsync(
                    raw.ctypes.data, view.ptr + low, raw.size, self._stream.handle
                )
            )
            self._stream.sync()
        return hostside.gathered(raw, low, view.shape, _byte_strides(view), view.dtype)


def _byte_strides(view):
    """Strides are counted in elements there, and None stands for C order."""
    size = view.dtype.itemsize
    if view.strides is not None:
        return tuple(stride * size for stride in view.strides)
    return numpy.empty(tuple(view.shape), view.dtype).strides


def _done(answer):
    if answer[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"the driver answered {answer[0].name}")
