"""PyTorch's caching allocator, for `allocert run place --abi rmm`."""

from typing import Any

import torch


class Caching:
    """The allocator that `torch.cuda.caching_allocator_alloc` gives to others."""

    def allocate(self, size: int, stream: Any) -> int:
        """A block for work on the stream."""
        device = torch.cuda.current_device()
        handle = stream.__cuda_stream__()[1]
        return int(torch.cuda.caching_allocator_alloc(size, device, handle))

    def deallocate(self, address: int, _size: int, _stream: Any) -> None:
        """Gives a block back to the stream that it was taken for."""
        torch.cuda.caching_allocator_delete(address)
