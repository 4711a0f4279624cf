"""NVIDIA Warp: arrays over memory that it is given; `warp.array` of an object; kernels.

Warp copies and fills with CUDA's runtime. This adapter reads and writes data with the driver, on
the stream that Warp would use. That shows what Warp took an array for, and what it waited for, on
the software driver too.
"""

from typing import Any

import numpy
import warp
from cuda.bindings import driver

from . import numpy_helpers
from .array_spec import ArraySpec, Description

warp.config.quiet = True
warp.config.enable_mempools_at_init = False

_DEVICE = "cuda:0"
_LEGACY, _PER_THREAD = 1, 2


class Producer:
    """Makes `warp.array` over memory of the driver."""

    library = "warp-lang"

    def __init__(self) -> None:
        warp.init()
        #: The latest writes; Warp leaves it to its users to put reads after them.
        self._written = warp.Event(_DEVICE)

    def stream(self, kind: str) -> Any:
        return _stream(kind)

    def array(self, spec: ArraySpec) -> Any:
        if spec.read_only or spec.mask is not None or spec.memory != "device" or spec.fields:
            raise NotImplementedError(
                "no read-only and no masked arrays; fields and other memory are not tried"
            )
        host = numpy_helpers.filled(spec)
        if not host.ndim:
            raise NotImplementedError("an array of Warp has an axis at least")
        if not host.itemsize:
            raise NotImplementedError("elements of no bytes are not tried")
        if not host.size:
            return warp.empty(host.shape, _warp_type(host.dtype), device=_DEVICE)
        pointer = _check(driver.cuMemAlloc(host.nbytes))
        _check(driver.cuMemcpyHtoD(pointer, host.ctypes.data, host.nbytes))
        return warp.array(
            ptr=int(pointer),
            shape=host.shape,
            strides=host.strides,
            dtype=_warp_type(host.dtype),
            device=_DEVICE,
            deleter=lambda *_: driver.cuMemFree(pointer),
        )

    def view(self, array: Any, way: str, value: Any) -> Any:
        if way == "reshape":
            if not value or not array.is_contiguous:
                raise NotImplementedError("Warp reshapes contiguous arrays, to one axis at least")
            return array.reshape(value)
        if way == "transpose":
            return array.transpose()
        if way == "slice":
            if any(
                axis is None or (isinstance(axis, slice) and (axis.step or 1) < 0) for axis in value
            ):
                raise NotImplementedError("no new axes and no negative steps")
            return array[value]
        if way == "dtype":
            if numpy.dtype(value).itemsize != _numpy_type(array).itemsize:
                raise NotImplementedError("Warp takes elements for others of the same size alone")
            return array.view(_warp_type(numpy.dtype(value)))
        raise NotImplementedError(f"no {way}")

    def write(self, array: Any, stream: Any, byte: int) -> None:
        _fill(array, stream, byte)
        (stream or warp.get_stream(_DEVICE)).record_event(self._written)

    def read(self, array: Any, stream: Any) -> None:
        (stream or warp.get_stream(_DEVICE)).wait_event(self._written)
        _copied(array, stream)


class Consumer:
    """Takes arrays by `warp.array`, and as arguments of kernels."""

    library = "warp-lang"

    def __init__(self) -> None:
        warp.init()

    def stream(self, kind: str) -> Any:
        return _stream(kind)

    def use_stream(self, stream: Any) -> None:
        warp.set_stream(stream, _DEVICE)

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        if ignore_stream:
            raise NotImplementedError("Warp has no option for it")
        return warp.array(exporter, copy=False, device=_DEVICE)

    def describe(self, array: Any) -> Description:
        return {
            "shape": tuple(array.shape),
            "typestr": _numpy_type(array).str,
            "strides": tuple(array.strides),
            "pointer": array.ptr or 0,
            "valid": None,
        }

    def read(self, array: Any) -> "numpy.ndarray[Any, Any]":
        host, low = _copied(array, None)
        _check(driver.cuStreamSynchronize(warp.get_stream(_DEVICE).cuda_stream))
        return numpy_helpers.gathered(host, low, array.shape, array.strides, _numpy_type(array))

    def write(self, array: Any, byte: int) -> None:
        _fill(array, None, byte)

    def launch(self, exporters: list[Any], stream: Any) -> None:
        if len(exporters) not in _KERNELS:
            raise NotImplementedError(f"there is no kernel of {len(exporters)} arguments here")
        # Kernels have types; a user knows those of the arrays.
        types = [
            _warp_type(numpy.dtype(exporter.__cuda_array_interface__["typestr"]))
            for exporter in exporters
        ]
        kernel = warp.overload(_KERNELS[len(exporters)], [warp.array(dtype=one) for one in types])
        warp.launch(kernel, dim=1, inputs=exporters, device=_DEVICE, stream=stream)

    def export(self, array: Any) -> Any:
        return array


class Sized(Consumer):
    """`warp.array` refuses what has no `__len__`; this adds one to the exporter."""

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        return super().accept(_WithLength(exporter), ignore_stream)


class _WithLength:
    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter

    @property
    def __cuda_array_interface__(self) -> Any:
        return self._exporter.__cuda_array_interface__

    def __len__(self) -> int:
        return 1


def _stream(kind: str) -> Any:
    if kind == "default":
        return warp.get_stream(_DEVICE)
    if kind == "new":
        return warp.Stream(_DEVICE)
    return warp.Stream(_DEVICE, cuda_stream=_LEGACY if kind == "legacy" else _PER_THREAD)


def _warp_type(dtype: Any) -> Any:
    try:
        return warp.dtype_from_numpy(dtype)
    except TypeError as error:
        raise NotImplementedError(str(error)) from None


def _numpy_type(array: Any) -> "numpy.dtype[Any]":
    dtype: numpy.dtype[Any] = numpy.dtype(warp.dtype_to_numpy(array.dtype))
    return dtype


def _span(array: Any) -> tuple[int, int]:
    return numpy_helpers.span(array.shape, array.strides, _numpy_type(array).itemsize)


def _fill(array: Any, stream: Any, byte: int) -> None:
    low, high = _span(array)
    if array.size * _numpy_type(array).itemsize != high - low:
        raise NotImplementedError("bytes are written to arrays without gaps alone")
    if high > low:
        handle = (stream or warp.get_stream(_DEVICE)).cuda_stream
        _check(driver.cuMemsetD8Async(array.ptr + low, byte, high - low, handle))


def _copied(array: Any, stream: Any) -> tuple[bytearray, int]:
    """Enqueues a copy of all bytes of an array. Returns where it goes, and the lowest offset."""
    low, high = _span(array)
    host = bytearray(max(high - low, 1))
    if high > low:
        handle = (stream or warp.get_stream(_DEVICE)).cuda_stream
        target = numpy.frombuffer(host, "u1").ctypes.data
        _check(driver.cuMemcpyDtoHAsync(target, array.ptr + low, high - low, handle))
    return host, low


def _check(answer: Any) -> Any:
    """The value of an answer of cuda-bindings. Raises RuntimeError for a code other than 0."""
    code, *values = answer
    if code != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"the driver answered {code.name}")
    return values[0] if values else None


# The type of a kernel's argument: Warp reads annotations when it makes the kernel.
_Argument: Any = warp.array(dtype=Any)


@warp.kernel  # type: ignore[untyped-decorator]
def _one(first: _Argument) -> None:
    first[0] = first[0]


@warp.kernel  # type: ignore[untyped-decorator]
def _two(first: _Argument, second: _Argument) -> None:
    first[0] = first[0]
    second[0] = second[0]


@warp.kernel  # type: ignore[untyped-decorator]
def _three(first: _Argument, second: _Argument, third: _Argument) -> None:
    first[0] = first[0]
    second[0] = second[0]
    third[0] = third[0]


_KERNELS = {1: _one, 2: _two, 3: _three}
