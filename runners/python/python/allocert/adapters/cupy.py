"""CuPy: device and managed memory; `cupy.asarray`, and arguments of ufuncs.

It exports the stream that is current.
"""

import importlib.metadata
from collections.abc import Callable
from typing import Any

import cupy
import cupyx

from . import numpy_helpers
from .array_spec import ArraySpec, Description

_STREAMS: dict[str, Callable[[], Any]] = {
    "new": cupy.cuda.Stream,
    "legacy": lambda: cupy.cuda.Stream.null,
    "per_thread": lambda: cupy.cuda.Stream.ptds,
    "default": lambda: cupy.cuda.Stream.null,
}


#: The name of the wheel says for which CUDA it is built.
_DISTRIBUTION = next(iter(importlib.metadata.packages_distributions().get("cupy", ())), "cupy")


class Producer:
    """Makes `cupy.ndarray`."""

    library = _DISTRIBUTION

    def __init__(self) -> None:
        #: The targets of copies, which must live until the copies end.
        self._copies: list[Any] = []
        #: The latest writes; CuPy leaves it to its users to put reads after them.
        self._written = cupy.cuda.Event()

    def stream(self, kind: str) -> Any:
        return _STREAMS[kind]()

    def array(self, spec: ArraySpec) -> Any:
        if spec.read_only or spec.mask is not None:
            raise NotImplementedError("CuPy has no read-only and no masked arrays")
        if spec.memory not in ("device", "managed"):
            raise NotImplementedError(f"CuPy makes no device arrays of {spec.memory} memory")
        host = numpy_helpers.filled(spec)
        if host.dtype.kind not in "biufcV" or not host.dtype.isnative:
            raise NotImplementedError("CuPy has numbers and structures alone, in native byte order")
        if not host.itemsize:
            raise NotImplementedError("elements of no bytes are not tried")
        if spec.stream is not None:
            # An array of CuPy belongs to no stream: it exports the one that is current then.
            spec.stream.use()
        memory = cupy.cuda.malloc_managed(host.nbytes) if spec.memory == "managed" else None
        order = "F" if spec.layout == "fortran" else "C"
        made = cupy.ndarray(host.shape, host.dtype, memptr=memory, order=order)
        made.set(host)
        return made

    def view(self, array: Any, way: str, value: Any) -> Any:
        if way == "broadcast_to":
            return cupy.broadcast_to(array, value)
        return numpy_helpers.view(array, way, value)

    def write(self, array: Any, stream: Any, byte: int) -> None:
        _fill(array, stream, byte)
        self._written.record(stream)

    def read(self, array: Any, stream: Any) -> None:
        (stream or cupy.cuda.get_current_stream()).wait_event(self._written)
        self._copies.append(cupyx.empty_pinned(array.shape, array.dtype))
        array.get(stream=stream, out=self._copies[-1], blocking=False)


class Consumer:
    """Takes arrays by `cupy.asarray`, and as arguments of ufuncs."""

    library = _DISTRIBUTION

    def stream(self, kind: str) -> Any:
        return _STREAMS[kind]()

    def use_stream(self, stream: Any) -> None:
        stream.use()

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        if ignore_stream:
            raise NotImplementedError(
                "CUPY_CUDA_ARRAY_INTERFACE_SYNC is read once, when CuPy is imported"
            )
        return cupy.asarray(exporter)

    def describe(self, array: Any) -> Description:
        return {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "strides": array.strides,
            "pointer": array.data.ptr,
            "valid": None,
        }

    def read(self, array: Any) -> Any:
        return array.get()

    def write(self, array: Any, byte: int) -> None:
        _fill(array, None, byte)

    def launch(self, exporters: list[Any], stream: Any) -> None:
        if len(exporters) not in _UFUNCS:
            raise NotImplementedError(f"there is no ufunc of {len(exporters)} arguments here")
        with stream or cupy.cuda.get_current_stream():
            _UFUNCS[len(exporters)](*exporters)

    def export(self, array: Any) -> Any:
        return array


#: Ufuncs take objects with the attribute; most functions of CuPy do not.
_UFUNCS = {1: cupy.absolute, 2: cupy.add}


def _fill(array: Any, stream: Any, byte: int) -> None:
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise NotImplementedError("bytes are written to contiguous arrays alone")
    array.data.memset_async(byte, array.nbytes, stream=stream or cupy.cuda.get_current_stream())
