"""cuda.core: `StridedMemoryView`. It produces no arrays."""

import numpy
from cuda.core import Device
from cuda.core.utils import StridedMemoryView


class Consumer:
    library = "cuda-core"

    def __init__(self):
        self._device = Device(0)
        self._device.set_current()
        self._stream = self._device.create_stream()

    def accept(self, exporter, ignore_stream):
        stream = -1 if ignore_stream else int(self._stream.handle)
        return StridedMemoryView.from_cuda_array_interface(exporter, stream_ptr=stream)

    def describe(self, view):
        element = view.dtype.itemsize
        strides = None if view.strides is None else tuple(stride * element for stride in view.strides)
        return {
            "shape": tuple(view.shape),
            "typestr": view.dtype.str,
            "strides": strides,
            "pointer": view.ptr,
            "read_only": view.readonly,
        }

    def read(self, view):
        host = numpy.empty(tuple(view.shape), view.dtype)
        StridedMemoryView.from_array_interface(host).copy_from(view, self._stream, blocking=True)
        return host
