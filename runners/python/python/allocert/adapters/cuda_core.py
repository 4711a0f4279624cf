"""cuda.core: `StridedMemoryView`, which orders its data before the stream that it is given.

It produces no arrays. Users hand a view to kernels and copies of their own on that stream, and
wait themselves; so `read` copies and waits, as they would, and nothing writes.
"""

from typing import Any

import numpy
from cuda.bindings import driver
from cuda.core import Device
from cuda.core.utils import StridedMemoryView

from . import numpy_helpers
from .array_spec import Description

#: Stands for no stream.
_NO_STREAM = -1


class Consumer:
    """Takes arrays by `StridedMemoryView.from_cuda_array_interface`."""

    library = "cuda-core"

    def __init__(self) -> None:
        device = Device(0)
        device.set_current()
        self._stream = device.create_stream()

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        stream = _NO_STREAM if ignore_stream else int(self._stream.handle)
        return StridedMemoryView.from_cuda_array_interface(exporter, stream_ptr=stream)

    def describe(self, view: Any) -> Description:
        return {
            "shape": tuple(view.shape),
            "typestr": view.dtype.str,
            "strides": None if view.strides is None else _byte_strides(view),
            "pointer": view.ptr,
            "read_only": view.readonly,
            "valid": None,
        }

    def read(self, view: Any) -> "numpy.ndarray[Any, Any]":
        low, high = numpy_helpers.span(view.shape, _byte_strides(view), view.dtype.itemsize)
        raw = numpy.empty(high - low, numpy.uint8)
        if raw.size:
            stream = self._stream.handle
            _check(driver.cuMemcpyDtoHAsync(raw.ctypes.data, view.ptr + low, raw.size, stream))
            self._stream.sync()
        return numpy_helpers.gathered(raw, low, view.shape, _byte_strides(view), view.dtype)


def _byte_strides(view: Any) -> tuple[int, ...]:
    """The strides in bytes: cuda.core counts elements, and None stands for C order."""
    size = view.dtype.itemsize
    if view.strides is not None:
        return tuple(stride * size for stride in view.strides)
    return numpy.empty(tuple(view.shape), view.dtype).strides


def _check(answer: Any) -> None:
    if answer[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"the driver answered {answer[0].name}")
