"""JAX: immutable arrays; `jax.numpy.asarray`. It has no streams to choose from."""

import os
from typing import Any

# JAX takes most of the device's memory otherwise, and each case has a process of its own.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import numpy

from . import numpy_helpers
from .array_spec import ArraySpec, Description

jax.config.update("jax_enable_x64", True)


class Producer:
    """Makes arrays by `device_put`."""

    library = "jax"
    immutable = True

    def __init__(self) -> None:
        _use_once()

    def array(self, spec: ArraySpec) -> Any:
        if spec.mask is not None or spec.stream is not None:
            raise NotImplementedError("JAX has neither masked arrays nor streams")
        if spec.memory != "device" or spec.layout != "c" or spec.fields:
            raise NotImplementedError(
                "JAX makes arrays of device memory, in C order, without fields"
            )
        host = numpy_helpers.filled(spec)
        if host.dtype.kind not in "biufc" or not host.dtype.isnative:
            raise NotImplementedError("JAX has numbers alone, in native byte order")
        return jax.device_put(host).block_until_ready()

    def view(self, array: Any, way: str, value: Any) -> Any:
        raise NotImplementedError("JAX has no views: it copies what it slices or reshapes")

    def write(self, array: Any, stream: Any, byte: int) -> None:
        raise NotImplementedError("arrays of JAX are immutable")

    def read(self, array: Any, stream: Any) -> None:
        if stream is not None:
            raise NotImplementedError("JAX has no streams to choose from")
        jax.numpy.negative(array)


class Consumer:
    """Takes arrays by `jax.numpy.asarray`."""

    library = "jax"

    def __init__(self) -> None:
        _use_once()

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        if ignore_stream:
            raise NotImplementedError("JAX has no option for it")
        return jax.numpy.asarray(exporter)

    def describe(self, array: Any) -> Description:
        return {
            "shape": tuple(array.shape),
            "typestr": array.dtype.str,
            "pointer": array.unsafe_buffer_pointer(),
            "valid": None,
        }

    def read(self, array: Any) -> "numpy.ndarray[Any, Any]":
        return numpy.asarray(array)

    def write(self, array: Any, byte: int) -> None:
        raise NotImplementedError("arrays of JAX are immutable")

    def export(self, array: Any) -> Any:
        return array


#: The arrays of `_use_once`. Only a callback on the host tells that a read of one has ended, so no
#: array of a case may get its memory.
_first_arrays: list[Any] = []


def _use_once() -> None:
    """JAX makes its streams, and asks the driver for much else, when it is first used."""
    _first_arrays.append(jax.device_put(numpy.zeros(1, "f4")))
    numpy.asarray(_first_arrays[-1])
