"""Faults in what a host asks of its plugin."""

import contextlib

from numba.cuda.cudadrv import devicearray, devices
from numba.cuda.cudadrv import driver as numba_driver

from .registry import around, mutant

driver, binding = numba_driver.driver, numba_driver.binding
Context = numba_driver.Context


@mutant
def takes_itself(host):
    make = host.device_array

    def device_array(*args, **kwargs):
        scratch = driver.cuMemAlloc(256)
        array = make(*args, **kwargs)
        driver.cuMemFree(scratch)
        return array

    host.device_array = device_array


@mutant
def rounds_sizes(_host):
    @around(Context, "memalloc")
    def memalloc(original, self, size):
        return original(self, -(-size // 512) * 512)

    @around(Context, "memhostalloc")
    def memhostalloc(original, self, size, *args, **kwargs):
        return original(self, -(-size // 512) * 512, *args, **kwargs)


@mutant
def copies_nothing(host):
    host.to_device = lambda array: host.device_array(array.shape, array.dtype)


@mutant
def copies_slices(host):
    @around(devicearray.DeviceNDArray, "__getitem__")
    def __getitem__(original, self, item):
        part = original(self, item)
        return host.device_array(part.shape, part.dtype)


@mutant
def in_another_context(_host):
    """Allocates on the other device, where there is one."""

    @around(Context, "memalloc")
    def memalloc(original, self, size):
        if len(devices.gpus) < 2:
            return original(self, size)
        other = devices.gpus[1 - int(self.device.id)].get_primary_context()
        driver.cuCtxPushCurrent(other.handle)
        try:
            return original(self, size)
        finally:
            driver.cuCtxPopCurrent()


@mutant
def swallows_errors(_host):
    @around(Context, "memalloc")
    def memalloc(original, self, size):
        try:
            return original(self, size)
        except Exception:
            return numba_driver.MemoryPointer(self, binding.CUdeviceptr(0), size)


@mutant
def never_initializes(_host):
    Context.prepare_for_use = lambda self: None


@mutant
def drops_flags(_host):
    @around(Context, "memhostalloc")
    def memhostalloc(original, self, size, mapped=False, portable=False, wc=False):
        return original(self, size, mapped)


@mutant
def wants_own_class(_host):
    """Mapped memory is of use only as the object that this host's own manager makes of it."""

    @around(Context, "memhostalloc")
    def memhostalloc(original, *args, **kwargs):
        memory = original(*args, **kwargs)
        return memory.__dict__.get("_memory", memory) if hasattr(memory, "__dict__") else memory


@mutant
def pins_without_owner(_host):
    @around(Context, "mempin")
    def mempin(original, self, owner, pointer, size, mapped=False):
        return original(self, None, pointer, size, mapped)


@mutant
def keeps_pinned(_host):
    kept = []

    @around(Context, "mempin")
    def mempin(original, *args, **kwargs):
        kept.append(original(*args, **kwargs))
        return kept[-1]


@mutant
def asks_driver_for_info(_host):
    Context.get_memory_info = lambda self: numba_driver.MemoryInfo(*driver.cuMemGetInfo())


@mutant
def makes_up_info(_host):
    @around(Context, "get_memory_info")
    def get_memory_info(original, self):
        try:
            return original(self)
        except NotImplementedError:
            return numba_driver.MemoryInfo(0, 0)


@mutant
def shares_whole_allocation(_host):
    @around(Context, "get_ipc_handle")
    def get_ipc_handle(original, self, memory):
        return original(self, memory.owner)


@mutant
def replaces_handle(_host):
    @around(Context, "get_ipc_handle")
    def get_ipc_handle(original, self, memory):
        handle = original(self, memory)
        handle.handle = binding.CUipcMemHandle()
        return handle


@mutant
def defers_alone(host):
    """Its own queue is held back, the plugin hears nothing."""
    host.defer_cleanup = lambda: host.current_context().deallocations.disable()


@mutant
def never_leaves_defer(_host):
    @contextlib.contextmanager
    def defer_cleanup(self):
        self.memory_manager.defer_cleanup().__enter__()
        yield

    Context.defer_cleanup = defer_cleanup


@mutant
def asks_for_empty_arrays(host):
    for name in ("pinned_array", "mapped_array"):
        make = getattr(host, name)

        def array(shape, *args, make=make, mapped=name == "mapped_array", **kwargs):
            if shape == 0:
                host.current_context().memhostalloc(0, mapped=mapped)
            return make(shape, *args, **kwargs)

        setattr(host, name, array)


@mutant
def allocates_nothing_bytes(host):
    make = host.device_array

    def device_array(shape, *args, **kwargs):
        if shape == 0:
            host.current_context().memalloc(0)
        return make(shape, *args, **kwargs)

    host.device_array = device_array
