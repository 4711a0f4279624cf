"""numba-cuda: device, managed and mapped arrays; `as_cuda_array`, and arguments of kernels."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy
from numba import cuda, types
from numba.cuda.cudadrv.driver import device_memset

from . import numpy_helpers
from .array_spec import ArraySpec, Description

_STREAMS: dict[str, Callable[[], Any]] = {
    "new": cuda.stream,
    "legacy": cuda.legacy_default_stream,
    "per_thread": cuda.per_thread_default_stream,
    "default": cuda.default_stream,
}


class Producer:
    """Makes arrays by `to_device`, `managed_array` and `mapped_array`."""

    library = "numba-cuda"

    def stream(self, kind: str) -> Any:
        return _STREAMS[kind]()

    def array(self, spec: ArraySpec) -> Any:
        if spec.read_only or spec.mask is not None:
            raise NotImplementedError("numba-cuda has no read-only and no masked device arrays")
        host, stream = numpy_helpers.filled(spec), spec.stream or 0
        if not host.itemsize:
            raise NotImplementedError("numba-cuda refuses host arrays with elements of no bytes")
        if spec.memory == "device":
            return cuda.to_device(host, stream=stream)
        if spec.memory == "pinned":
            raise NotImplementedError(
                "a pinned array of numba-cuda is NumPy's and has no device interface"
            )
        if not host.size:
            raise NotImplementedError("numba-cuda makes no managed or mapped arrays of 0 bytes")
        make = cuda.managed_array if spec.memory == "managed" else cuda.mapped_array
        order = "F" if spec.layout == "fortran" else "C"
        made = make(host.shape, host.dtype, order=order, stream=stream)
        made[...] = host
        return made

    def view(self, array: Any, way: str, value: Any) -> Any:
        if isinstance(array, numpy.ndarray):
            raise NotImplementedError(
                "a view of a managed or mapped array is NumPy's and has no device interface"
            )
        if way == "slice" and any(axis is None for axis in value):
            raise NotImplementedError("device arrays take no new axes")
        if way == "transpose" and array.ndim == 2:
            raise NotImplementedError("transposing copies")
        if way == "byteswapped":
            raise NotImplementedError("device arrays cannot be byteswapped")
        if way == "broadcast_to":
            return cuda.to_device(numpy.broadcast_to(array.copy_to_host(), value))
        return numpy_helpers.view(array, way, value)

    def write(self, array: Any, stream: Any, byte: int) -> None:
        _decline_streams_of_the_user(array, stream)
        # Managed and mapped arrays are NumPy's, and the adapter makes no views of them.
        is_numpy = isinstance(array, numpy.ndarray)
        if not (is_numpy or array.is_c_contiguous() or array.is_f_contiguous()):
            raise NotImplementedError("device_memset knows no strides")
        stream = stream or array.stream or cuda.default_stream()
        device_memset(array, byte, array.nbytes, stream=stream)

    def read(self, array: Any, stream: Any) -> None:
        _decline_streams_of_the_user(array, stream)
        # Without any stream, also of the array itself, copying waits.
        array.copy_to_host(cuda.pinned_array(array.shape, array.dtype), stream=stream or 0)

    def plain_object(self, kind: str) -> Any:
        return cuda.pinned_array(4, numpy.float32)


def _decline_streams_of_the_user(array: Any, stream: Any) -> None:
    """The documentation of numba-cuda asks its users to order work in such streams themselves."""
    if stream is not None and stream is not array.stream:
        raise NotImplementedError(
            "numba-cuda documents that its users make the stream of an array wait for work in"
            " another stream"
        )


class Consumer:
    """Takes arrays by `as_cuda_array`, and as arguments of kernels."""

    library = "numba-cuda"

    def stream(self, kind: str) -> Any:
        return _STREAMS[kind]()

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        return cuda.as_cuda_array(exporter, sync=not ignore_stream)

    def describe(self, array: Any) -> Description:
        return {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "strides": array.strides,
            "pointer": array.device_ctypes_pointer.value or 0,
            "stream": int(array.stream) if array.stream else None,
            "valid": None,
        }

    def read(self, array: Any) -> Any:
        return array.copy_to_host()

    def write(self, array: Any, byte: int) -> None:
        if not array.is_c_contiguous():
            raise NotImplementedError("device_memset knows no strides")
        device_memset(array, byte, array.nbytes, stream=array.stream or cuda.default_stream())

    def launch(self, exporters: list[Any], stream: Any) -> list[Description]:
        if len(exporters) not in _KERNELS:
            raise NotImplementedError(f"there is no kernel of {len(exporters)} arguments here")
        # A new dispatcher for each launch: the one signature that it compiled says what these
        # arguments were taken for.
        kernel = cuda.jit(_KERNELS[len(exporters)])
        kernel[1, 1, stream or 0](*exporters)
        (signature,) = kernel.overloads
        return [
            _taken_for(exporter, kind) for exporter, kind in zip(exporters, signature, strict=True)
        ]

    def export(self, array: Any) -> Any:
        return array


class Described(Consumer):
    """Takes arrays by `from_cuda_array_interface`, which keeps no reference to the owner."""

    keeps_owner = False

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        return cuda.from_cuda_array_interface(
            exporter.__cuda_array_interface__, sync=not ignore_stream
        )


def _taken_for(exporter: Any, kind: Any) -> Description:
    """What a kernel takes an argument of a Numba type for.

    A kernel that was compiled for C or Fortran order does not look at strides; one for any order
    takes them from the array.
    """
    interface = exporter.__cuda_array_interface__
    strides, element = interface.get("strides"), numpy.dtype(interface["typestr"]).itemsize
    if kind.layout != "A" or strides is None:
        strides = _contiguous(interface["shape"], element, kind.layout)
    return {
        "shape": interface["shape"],
        "strides": strides,
        "read_only": not kind.mutable,
        "valid": None,
    }


def _contiguous(shape: tuple[int, ...], step: int, layout: str) -> tuple[int, ...]:
    """The strides in bytes of arrays of this order without gaps."""
    strides = []
    for extent in shape if layout == "F" else reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(strides if layout == "F" else reversed(strides))


# What a kernel does with its arguments shows on a GPU only; which arguments it has shows
# everywhere.
def _one(first: Any) -> None:
    first.size  # noqa: B018


def _two(first: Any, second: Any) -> None:
    first.size, second.size  # noqa: B018


def _three(first: Any, second: Any, third: Any) -> None:
    first.size, second.size, third.size  # noqa: B018


_KERNELS = {1: _one, 2: _two, 3: _three}


def _load_compiler() -> None:
    """Compiles once at import, which takes half a second.

    Each case runs in a fork of this process, and would load the compiler itself.
    """
    # Without a compiler `launch` raises, in the cases that launch.
    with contextlib.suppress(Exception):
        cuda.compile(_one, (types.Array(types.float32, 1, "C"),), cc=(9, 0))


_load_compiler()
