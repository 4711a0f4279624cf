"""PyTorch: tensors on the device, `torch.as_tensor`. It exports no stream, and asks for none."""

import numpy
import torch

from . import hostside

_STREAMS = {
    "new": torch.cuda.Stream,
    "legacy": torch.cuda.default_stream,
    "per_thread": lambda: torch.cuda.ExternalStream(2),
    "default": torch.cuda.default_stream,
}


class Producer:
    library = "torch"

    def __init__(self):
        _begin()

    def stream(self, kind):
        return _STREAMS[kind]()

    def array(self, spec):
        if spec.read_only or spec.mask is not None or spec.memory != "device":
            raise NotImplementedError(
                "PyTorch has neither read-only nor masked tensors, and they lie in device memory"
            )
        with torch.cuda.stream(spec.stream):
            return _of_host(hostside.filled(spec)).to("cuda")

    def view(self, array, way, value):
        if way == "slice":
            if any(isinstance(one, slice) and (one.step or 1) < 0 for one in value):
                raise NotImplementedError("tensors have no negative strides")
            return array[value]
        if way == "transpose":
            return array.permute(*reversed(range(array.ndim)))
        if way == "broadcast_to":
            return array.expand(value)
        if way == "reshape":
            return array.view(value)
        if way == "dtype":
            return array.view(_of_host(numpy.empty(0, value)).dtype)
        raise NotImplementedError(f"no {way}")

    def write(self, array, stream, byte):
        _fill(array, stream, byte)

    def read(self, array, stream):
        with torch.cuda.stream(stream):
            torch.empty_like(array, device="cpu", pin_memory=True).copy_(array, non_blocking=True)

    def plain_object(self, kind):
        return torch.zeros(4)


class Consumer:
    library = "torch"

    def __init__(self):
        _begin()

    def stream(self, kind):
        return _STREAMS[kind]()

    def accept(self, exporter, ignore_stream):
        # There is no option because there is no wait: without it, this is what PyTorch does by
        # default.
        if ignore_stream:
            raise NotImplementedError("PyTorch has no option for it")
        return torch.as_tensor(exporter, device="cuda")

    def describe(self, tensor):
        element = tensor.element_size()
        return {
            "shape": tuple(tensor.shape),
            "typestr": torch.empty(0, dtype=tensor.dtype).numpy().dtype.str,
            "strides": tuple(stride * element for stride in tensor.stride()),
            "pointer": tensor.data_ptr(),
            "valid": None,
        }

    def read(self, tensor):
        return tensor.cpu().numpy()

    def write(self, tensor, byte):
        _fill(tensor, None, byte)

    def export(self, tensor):
        return tensor


def _begin():
    """PyTorch asks the driver for what it needs when it is first used."""
    torch.zeros(1).to("cuda").cpu()


def _of_host(array):
    """A tensor that shares the memory of a NumPy array; what has no type in PyTorch is declined."""
    try:
        return torch.from_numpy(array)
    except (TypeError, ValueError) as error:
        raise NotImplementedError(str(error)) from None


def _fill(tensor, stream, byte):
    """Copies from page-locked memory: a copy shows in a trace as a write, and a kernel as no more than a kernel."""
    source = torch.from_numpy(
        numpy.full(tensor.nbytes, byte, "u1").view(_numpy_type(tensor)).reshape(tensor.shape)
    )
    with torch.cuda.stream(stream):
        tensor.copy_(source.pin_memory(), non_blocking=True)


def _numpy_type(tensor):
    return torch.empty(0, dtype=tensor.dtype).numpy().dtype
