"""PyTorch: tensors on the device; `torch.as_tensor`. It exports no stream and waits for none."""

from collections.abc import Callable
from typing import Any

import numpy
import torch

from . import numpy_helpers
from .array_spec import ArraySpec, Description

_STREAMS: dict[str, Callable[[], Any]] = {
    "new": torch.cuda.Stream,
    "legacy": torch.cuda.default_stream,
    "per_thread": lambda: torch.cuda.ExternalStream(2),
    "default": torch.cuda.default_stream,
}


class Producer:
    """Makes tensors."""

    library = "torch"

    def __init__(self) -> None:
        _use_once()
        #: The latest writes; PyTorch leaves it to its users to put reads after them.
        self._written = torch.cuda.Event()

    def stream(self, kind: str) -> Any:
        return _STREAMS[kind]()

    def array(self, spec: ArraySpec) -> Any:
        if spec.read_only or spec.mask is not None or spec.memory != "device":
            raise NotImplementedError(
                "PyTorch has neither read-only nor masked tensors, and they lie in device memory"
            )
        with torch.cuda.stream(spec.stream):
            return _tensor_over(numpy_helpers.filled(spec)).to("cuda")

    def view(self, array: Any, way: str, value: Any) -> Any:
        if way == "slice":
            if any(isinstance(axis, slice) and (axis.step or 1) < 0 for axis in value):
                raise NotImplementedError("tensors have no negative strides")
            return array[value]
        if way == "transpose":
            return array.permute(*reversed(range(array.ndim)))
        if way == "broadcast_to":
            return array.expand(value)
        if way == "reshape":
            return array.reshape(value)
        if way == "dtype":
            return array.view(_tensor_over(numpy.empty(0, value)).dtype)
        raise NotImplementedError(f"no {way}")

    def write(self, array: Any, stream: Any, byte: int) -> None:
        _fill(array, stream, byte)
        self._written.record(stream or torch.cuda.current_stream())

    def read(self, array: Any, stream: Any) -> None:
        with torch.cuda.stream(stream):
            self._written.wait()
            torch.empty_like(array, device="cpu", pin_memory=True).copy_(array, non_blocking=True)

    def plain_object(self, kind: str) -> Any:
        return torch.zeros(4)


class Consumer:
    """Takes arrays by `torch.as_tensor`."""

    library = "torch"

    def __init__(self) -> None:
        _use_once()

    def stream(self, kind: str) -> Any:
        return _STREAMS[kind]()

    def use_stream(self, stream: Any) -> None:
        torch.cuda.set_stream(stream)

    def accept(self, exporter: Any, ignore_stream: bool) -> Any:
        # PyTorch never waits, so it has no option for it: ignoring the stream is its default.
        if ignore_stream:
            raise NotImplementedError("PyTorch has no option for it")
        return torch.as_tensor(exporter, device="cuda")

    def describe(self, tensor: Any) -> Description:
        element_bytes = tensor.element_size()
        return {
            "shape": tuple(tensor.shape),
            "typestr": _numpy_type(tensor).str,
            "strides": tuple(stride * element_bytes for stride in tensor.stride()),
            "pointer": tensor.data_ptr(),
            "valid": None,
        }

    def read(self, tensor: Any) -> Any:
        return tensor.cpu().numpy()

    def write(self, tensor: Any, byte: int) -> None:
        _fill(tensor, None, byte)

    def export(self, tensor: Any) -> Any:
        return tensor


def _use_once() -> None:
    """PyTorch asks the driver for what it needs when it is first used."""
    torch.zeros(1).to("cuda").cpu()


def _tensor_over(array: Any) -> Any:
    """A tensor over the memory of a NumPy array. Declines types that PyTorch lacks."""
    try:
        return torch.from_numpy(array)
    except (TypeError, ValueError) as error:
        raise NotImplementedError(str(error)) from None


def _fill(tensor: Any, stream: Any, byte: int) -> None:
    """Copies from page-locked memory: a trace shows a copy as a write, a kernel as a kernel."""
    source = torch.from_numpy(
        numpy.full(tensor.nbytes, byte, "u1").view(_numpy_type(tensor)).reshape(tensor.shape)
    )
    with torch.cuda.stream(stream):
        tensor.copy_(source.pin_memory(), non_blocking=True)


def _numpy_type(tensor: Any) -> Any:
    return torch.empty(0, dtype=tensor.dtype).numpy().dtype
