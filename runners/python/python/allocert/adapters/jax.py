"""JAX: arrays, which nobody writes to; `jax.numpy.asarray`. It has no streams to choose from."""

import os

# JAX takes most of the device's memory otherwise, and each case has a process of its own.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402
import numpy  # noqa: E402

from . import hostside  # noqa: E402

jax.config.update("jax_enable_x64", True)


class Producer:
    library = "jax"
    immutable = True

    def __init__(self):
        _begin()

    def array(self, spec):
        if spec.mask is not None or spec.stream is not None:
            raise NotImplementedError("JAX has neither masked arrays nor streams")
        if spec.memory != "device" or spec.layout != "c" or spec.fields:
            raise NotImplementedError(
                "JAX makes arrays of device memory, in C order, without fields"
            )
        host = hostside.filled(spec)
        if host.dtype.kind not in "biufc" or not host.dtype.isnative:
            raise NotImplementedError("JAX has numbers alone, in native byte order")
        return jax.device_put(host).block_until_ready()

    def view(self, array, way, value):
        raise NotImplementedError(
            "JAX has no views: what it slices or reshapes is an array of its own"
        )

    def write(self, array, stream, byte):
        raise NotImplementedError("arrays of JAX are immutable")

    def read(self, array, stream):
        if stream is not None:
            raise NotImplementedError("JAX has no streams to choose from")
        jax.numpy.negative(array)


class Consumer:
    library = "jax"

    def __init__(self):
        _begin()

    def accept(self, exporter, ignore_stream):
        if ignore_stream:
            raise NotImplementedError("JAX has no option for it")
        return jax.numpy.asarray(exporter)

    def describe(self, array):
        return {
            "shape": tuple(array.shape),
            "typestr": array.dtype.str,
            "pointer": array.unsafe_buffer_pointer(),
            "valid": None,
        }

    def read(self, array):
        return numpy.asarray(array)

    def write(self, array, byte):
        raise NotImplementedError("arrays of JAX are immutable")

    def export(self, array):
        return array


#: Kept, so that no array of a case lies where this one was read: only a function of the host tells that the reading is over.
_first = []


def _begin():
    """JAX makes its streams, and asks the driver for much else, when it is first used."""
    _first.append(jax.device_put(numpy.zeros(1, "f4")))
    numpy.asarray(_first[-1])
