"""NVIDIA Warp: arrays over memory that it is given; `warp.array` of an object, and arguments of kernels.

Warp copies and fills with CUDA's runtime. Data are read and written here by the driver, on the stream that Warp would
use: that shows what Warp took an array for, and what it waited for, on the software driver too.
"""

from typing import Any

import numpy
import warp
from cuda.bindings import driver

from . import hostside

warp.config.quiet = True
warp.config.enable_mempools_at_init = False

_DEVICE = "cuda:0"
_LEGACY, _PER_THREAD = 1, 2


class Producer:
    library = "warp-lang"

    def __init__(self):
        warp.init()

    def stream(self, kind):
        return _stream(kind)

    def array(self, spec):
        if spec.read_only or spec.mask is not None or spec.memory != "device" or spec.fields:
            raise NotImplementedError(
                "no read-only and no masked arrays; fields and other memory are not tried"
            )
        host = hostside.filled(spec)
        if not host.ndim:
            raise NotImplementedError("an array of Warp has an axis at least")
        if not host.size:
            return warp.empty(host.shape, _type(host.dtype), device=_DEVICE)
        pointer = _done(driver.cuMemAlloc(host.nbytes))
        _done(driver.cuMemcpyHtoD(pointer, host.ctypes.data, host.nbytes))
        return warp.array(
            ptr=int(pointer),
            shape=host.shape,
            strides=host.strides,
            dtype=_type(host.dtype),
            device=_DEVICE,
            deleter=lambda *_: driver.cuMemFree(pointer),
        )

    def view(self, array, way, value):
        if way == "reshape":
            return array.reshape(value)
        if way == "transpose":
            return array.transpose()
        if way == "slice":
            if any(one is None or isinstance(one, slice) and (one.step or 1) < 0 for one in value):
                raise NotImplementedError("no new axes and no negative steps")
            return array[value]
        if way == "dtype":
            return array.view(_type(numpy.dtype(value)))
        raise NotImplementedError(f"no {way}")

    def write(self, array, stream, byte):
        _fill(array, stream, byte)

    def read(self, array, stream):
        _copied(array, stream)


class Consumer:
    library = "warp-lang"

    def __init__(self):
        warp.init()

    def stream(self, kind):
        return _stream(kind)

    def accept(self, exporter, ignore_stream):
        if ignore_stream:
            raise NotImplementedError("Warp has no option for it")
        return warp.array(exporter, copy=False, device=_DEVICE)

    def describe(self, array):
        return {
            "shape": tuple(array.shape),
            "typestr": numpy.dtype(warp.dtype_to_numpy(array.dtype)).str,
            "strides": tuple(array.strides),
            "pointer": array.ptr or 0,
            "valid": None,
        }

    def read(self, array):
        host, low = _copied(array, None)
        _done(driver.cuStreamSynchronize(warp.get_stream(_DEVICE).cuda_stream))
        dtype = numpy.dtype(warp.dtype_to_numpy(array.dtype))
        return hostside.gathered(host, low, array.shape, array.strides, dtype)

    def write(self, array, byte):
        _fill(array, None, byte)

    def launch(self, exporters, stream):
        if len(exporters) not in _KERNELS:
            raise NotImplementedError(f"no kernel of {len(exporters)} arguments is at hand")
        # Kernels have types; a user knows those of the arrays.
        types = [
            _type(numpy.dtype(exporter.__cuda_array_interface__["typestr"]))
            for exporter in exporters
        ]
        kernel = warp.overload(_KERNELS[len(exporters)], [warp.array(dtype=one) for one in types])
        warp.launch(kernel, dim=1, inputs=exporters, device=_DEVICE, stream=stream)

    def export(self, array):
        return array


class Sized(Consumer):
    """`warp.array` refuses what has no `__len__`; this gives it what it asks for beside the attribute."""

    def accept(self, exporter, ignore_stream):
        return super().accept(_WithLength(exporter), ignore_stream)


class _WithLength:
    def __init__(self, exporter):
        self._exporter = exporter

    @property
    def __cuda_array_interface__(self):
        return self._exporter.__cuda_array_interface__

    def __len__(self):
        return 1


def _stream(kind):
    if kind == "default":
        return warp.get_stream(_DEVICE)
    if kind == "new":
        return warp.Stream(_DEVICE)
    return warp.Stream(_DEVICE, cuda_stream=_LEGACY if kind == "legacy" else _PER_THREAD)


def _type(dtype):
    try:
        return warp.dtype_from_numpy(dtype)
    except TypeError as error:
        raise NotImplementedError(str(error)) from None


def _span(array):
    return hostside.span(
        array.shape, array.strides, numpy.dtype(warp.dtype_to_numpy(array.dtype)).itemsize
    )


def _fill(array, stream, byte):
    low, high = _span(array)
    if array.size * numpy.dtype(warp.dtype_to_numpy(array.dtype)).itemsize != high - low:
        raise NotImplementedError("bytes are written to arrays without gaps alone")
    if high > low:
        handle = (stream or warp.get_stream(_DEVICE)).cuda_stream
        _done(driver.cuMemsetD8Async(array.ptr + low, byte, high - low, handle))


def _copied(array, stream):
    """The bytes of an array once its stream is over, and where the lowest of them lies."""
    low, high = _span(array)
    host = bytearray(max(high - low, 1))
    if high > low:
        handle = (stream or warp.get_stream(_DEVICE)).cuda_stream
        target = numpy.frombuffer(host, "u1").ctypes.data
        _done(driver.cuMemcpyDtoHAsync(target, array.ptr + low, high - low, handle))
    return host, low


def _done(answer):
    code, *values = answer
    if code != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"the driver answered {code.name}")
    return values[0] if values else None


@warp.kernel
def _one(first: warp.array(dtype=Any)):
    first[0] = first[0]


@warp.kernel
def _two(first: warp.array(dtype=Any), second: warp.array(dtype=Any)):
    first[0] = first[0]
    second[0] = second[0]


@warp.kernel
def _three(
    first: warp.array(dtype=Any), second: warp.array(dtype=Any), third: warp.array(dtype=Any)
):
    first[0] = first[0]
    second[0] = second[0]
    third[0] = third[0]


_KERNELS = {1: _one, 2: _two, 3: _three}
