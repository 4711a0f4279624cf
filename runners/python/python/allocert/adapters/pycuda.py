"""PyCUDA: `GPUArray`; objects as arguments of kernels."""

from typing import Any

from pycuda import driver, gpuarray

from . import numpy_helpers
from .array_spec import ArraySpec, Description


class Producer:
    """Makes `GPUArray`."""

    library = "pycuda"

    def __init__(self) -> None:
        self._context = _push_primary_context()
        #: The targets of copies, which must live until the copies end.
        self._copies: list[Any] = []
        #: The latest writes; PyCUDA leaves it to its users to put reads after them.
        self._written = driver.Event(driver.event_flags.DISABLE_TIMING)

    def stream(self, kind: str) -> Any:
        return _stream(kind)

    def array(self, spec: ArraySpec) -> Any:
        if spec.read_only or spec.mask is not None or spec.memory != "device":
            raise NotImplementedError(
                "PyCUDA has neither read-only nor masked arrays, and no arrays of other memory"
            )
        host = numpy_helpers.filled(spec)
        if not host.itemsize:
            raise NotImplementedError("elements of no bytes are not tried")
        order = "F" if spec.layout == "fortran" else "C"
        made = gpuarray.GPUArray(host.shape, host.dtype, order=order)
        made.set(host)
        return made

    def view(self, array: Any, way: str, value: Any) -> Any:
        if way in ("broadcast_to", "byteswapped"):
            raise NotImplementedError(f"no {way}")
        if array.gpudata is None and way in ("reshape", "transpose"):
            raise NotImplementedError(f"{way} of PyCUDA fails for an array that was made empty")
        if way == "reshape" and not array.flags.c_contiguous:
            raise NotImplementedError("reshape of PyCUDA keeps the order of the memory")
        return numpy_helpers.view(array, way, value)

    def write(self, array: Any, stream: Any, byte: int) -> None:
        if not array.flags.forc:
            raise NotImplementedError("a memset knows no strides")
        if array.gpudata is not None:
            driver.memset_d8_async(array.gpudata, byte, array.nbytes, stream)
            self._written.record(stream)

    def read(self, array: Any, stream: Any) -> None:
        self._copies.append(driver.pagelocked_empty(array.shape, array.dtype))
        if array.gpudata is not None:
            if stream is not None:
                stream.wait_for_event(self._written)
            driver.memcpy_dtoh_async(self._copies[-1], array.gpudata, stream)


class Consumer:
    """Takes arrays as arguments of kernels."""

    library = "pycuda"

    def __init__(self) -> None:
        self._context = _push_primary_context()
        self._module = driver.module_from_buffer(_PTX)

    def stream(self, kind: str) -> Any:
        return _stream(kind)

    def launch(self, exporters: list[Any], stream: Any) -> list[Description]:
        if len(exporters) > _MOST_ARGUMENTS:
            raise NotImplementedError(f"there is no kernel of {len(exporters)} arguments here")
        kernel = self._module.get_function(f"take{len(exporters)}")
        kernel(*exporters, block=(1, 1, 1), grid=(1, 1), stream=stream)
        return [{"valid": None}] * len(exporters)


def _push_primary_context() -> Any:
    """The primary context of device 0, which is current already, as an object of PyCUDA's."""
    driver.init()
    context = driver.Device(0).retain_primary_context()
    context.push()
    return context


def _stream(kind: str) -> Any:
    if kind == "new":
        return driver.Stream()
    if kind in ("legacy", "default"):
        return None
    raise NotImplementedError("PyCUDA has no per-thread default stream")


_MOST_ARGUMENTS = 3


def _kernel(count: int) -> str:
    """PTX of a kernel with so many pointers, which does nothing."""
    parameters = ", ".join(f".param .u64 p{index}" for index in range(count))
    return f".visible .entry take{count}({parameters}) {{ ret; }}\n"


def _module() -> bytes:
    """PTX of all kernels, as a C string."""
    kernels = "".join(_kernel(count) for count in range(1, _MOST_ARGUMENTS + 1))
    return f".version 8.0\n.target sm_80\n.address_size 64\n{kernels}\0".encode()


_PTX = _module()
