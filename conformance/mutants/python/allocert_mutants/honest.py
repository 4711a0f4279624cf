"""A small plugin as its documentation asks for it: device memory from the driver, host memory left to Numba."""

import contextlib
import functools
import itertools
import weakref

from numba.cuda import GetIpcHandleMixin, HostOnlyCUDAMemoryManager, MemoryInfo, MemoryPointer
from numba.cuda.cudadrv.driver import CudaAPIError, binding, driver

OUT_OF_MEMORY = 2


class Blocks:
    """Device memory by token. An address comes back after it was freed; a token never does."""

    def __init__(self):
        self.live = {}
        self.pending = []
        self.deferring = 0
        self._tokens = itertools.count(1)

    def allocate(self, size):
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        try:
            address = driver.cuMemAlloc(max(size, 1))
        except CudaAPIError as error:
            if error.code != OUT_OF_MEMORY or self.deferring:
                raise
            self.flush()
            address = driver.cuMemAlloc(max(size, 1))
        token = next(self._tokens)
        self.live[token] = int(address)
        return token

    def release(self, token):
        address = self.live.pop(token, None)
        if address is None:
            return
        self.pending.append(address)
        if not self.deferring:
            self.flush()

    def flush(self):
        # Several threads may flush at once, and each block is taken by one of them.
        with contextlib.suppress(IndexError):
            while True:
                driver.cuMemFree(self.pending.pop())

    def reset(self):
        while self.live:
            self.pending.append(self.live.popitem()[1])
        self.flush()


class Manager(GetIpcHandleMixin, HostOnlyCUDAMemoryManager):
    """While `defer_cleanup()` is active, dropped device memory is freed by nobody; it is freed when the last scope ends."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.blocks = Blocks()

    def initialize(self):
        super().initialize()

    def memalloc(self, size):
        token = self.blocks.allocate(size)
        return self.wrap(self.blocks.live[token], size, self.finalizer(token))

    def finalizer(self, token):
        return functools.partial(self.blocks.release, token)

    def wrap(self, address, size, finalizer):
        pointer = binding.CUdeviceptr(address)
        return MemoryPointer(weakref.proxy(self.context), pointer, size, finalizer=finalizer)

    def get_memory_info(self):
        free, total = driver.cuMemGetInfo()
        return MemoryInfo(free=free, total=total)

    def reset(self):
        super().reset()
        self.blocks.reset()

    @contextlib.contextmanager
    def defer_cleanup(self):
        with super().defer_cleanup():
            self.blocks.deferring += 1
            try:
                yield
            finally:
                self.blocks.deferring -= 1
                if not self.blocks.deferring:
                    self.blocks.flush()

    @property
    def interface_version(self):
        return 1


_numba_memory_manager = Manager
