"""Hosts that call the methods of a plugin wrongly."""

import contextlib
from collections.abc import Iterator
from typing import Any

from numba.cuda.cudadrv import devicearray, devices
from numba.cuda.cudadrv import driver as numba_driver

from .mutant_registry import Function, around, mutant

driver, binding = numba_driver.driver, numba_driver.binding
Context = numba_driver.Context


@mutant
def allocates_scratch_itself(host: Any) -> None:
    """Allocates scratch memory from the driver for each array."""

    @around(host, "device_array")
    def device_array(original: Function, *args: Any, **kwargs: Any) -> Any:
        scratch = driver.cuMemAlloc(256)
        array = original(*args, **kwargs)
        driver.cuMemFree(scratch)
        return array


@mutant
def rounds_sizes(_host: Any) -> None:
    """Requests sizes rounded up to 512 bytes."""

    @around(Context, "memalloc")
    def memalloc(original: Function, self: Any, size: int) -> Any:
        return original(self, -(-size // 512) * 512)

    @around(Context, "memhostalloc")
    def memhostalloc(original: Function, self: Any, size: int, *args: Any, **kwargs: Any) -> Any:
        return original(self, -(-size // 512) * 512, *args, **kwargs)


@mutant
def halves_sizes(_host: Any) -> None:
    """Requests half as many bytes as an array has."""

    @around(Context, "memalloc")
    def memalloc(original: Function, self: Any, size: int) -> Any:
        return original(self, -(-size // 2))

    @around(Context, "memhostalloc")
    def memhostalloc(original: Function, self: Any, size: int, *args: Any, **kwargs: Any) -> Any:
        return original(self, -(-size // 2), *args, **kwargs)


@mutant
def pads_rows(_host: Any) -> None:
    """Requests a multiple of 16 bytes for each row of a matrix."""

    @around(numba_driver, "memory_size_from_info")
    def memory_size_from_info(
        original: Function, shape: tuple[int, ...], strides: Any, itemsize: int
    ) -> Any:
        if len(shape) != 2:
            return original(shape, strides, itemsize)
        return shape[0] * -(-shape[1] * itemsize // 16) * 16


@mutant
def to_device_copies_nothing(host: Any) -> None:
    """Returns an array without the data from to_device()."""
    host.to_device = lambda array: host.device_array(array.shape, array.dtype)


@mutant
def slices_allocate(host: Any) -> None:
    """Allocates a new array for each slice."""

    @around(devicearray.DeviceNDArray, "__getitem__")
    def __getitem__(original: Function, self: Any, item: Any) -> Any:
        part = original(self, item)
        return host.device_array(part.shape, part.dtype)


@mutant
def allocates_in_other_context(_host: Any) -> None:
    """Allocates while the context of another device is current, where there is another device."""

    @around(Context, "memalloc")
    def memalloc(original: Function, self: Any, size: int) -> Any:
        if len(devices.gpus) < 2:
            return original(self, size)
        other = devices.gpus[1 - int(self.device.id)].get_primary_context()
        driver.cuCtxPushCurrent(other.handle)
        try:
            return original(self, size)
        finally:
            driver.cuCtxPopCurrent()


@mutant
def memalloc_error_ignored(_host: Any) -> None:
    """Returns an array without memory when memalloc() raises."""

    @around(Context, "memalloc")
    def memalloc(original: Function, self: Any, size: int) -> Any:
        try:
            return original(self, size)
        except Exception:  # noqa: BLE001 - the mutation
            return numba_driver.MemoryPointer(self, binding.CUdeviceptr(0), size)


@mutant
def never_initializes(_host: Any) -> None:
    """Never calls initialize()."""
    Context.prepare_for_use = lambda self: None


@mutant
def memory_flags_dropped(_host: Any) -> None:
    """Does not pass the flags portable and write-combined on."""

    @around(Context, "memhostalloc")
    def memhostalloc(
        original: Function,
        self: Any,
        size: int,
        mapped: bool = False,
        portable: bool = False,
        wc: bool = False,
    ) -> Any:
        return original(self, size, mapped)


@mutant
def needs_own_mapped_class(_host: Any) -> None:
    """Accepts no mapped memory but the object that its own manager makes of it."""

    @around(Context, "memhostalloc")
    def memhostalloc(original: Function, *args: Any, **kwargs: Any) -> Any:
        memory = original(*args, **kwargs)
        return memory.__dict__.get("_memory", memory) if hasattr(memory, "__dict__") else memory


@mutant
def pins_without_owner(_host: Any) -> None:
    """Passes no owner to mempin()."""

    @around(Context, "mempin")
    def mempin(
        original: Function, self: Any, owner: Any, pointer: Any, size: int, mapped: bool = False
    ) -> Any:
        return original(self, None, pointer, size, mapped)


@mutant
def pins_whole_pages(_host: Any) -> None:
    """Pins the pages that a region reaches into."""

    @around(Context, "mempin")
    def mempin(
        original: Function, self: Any, owner: Any, pointer: Any, size: int, mapped: bool = False
    ) -> Any:
        return original(self, owner, pointer, -(-size // 4096) * 4096, mapped)


@mutant
def never_unpins(_host: Any) -> None:
    """Keeps regions pinned after the end of their block."""
    pinned: list[Any] = []

    @around(Context, "mempin")
    def mempin(original: Function, *args: Any, **kwargs: Any) -> Any:
        pinned.append(original(*args, **kwargs))
        return pinned[-1]


@mutant
def info_from_driver(_host: Any) -> None:
    """Asks the driver instead of the plugin for memory information."""
    Context.get_memory_info = lambda self: numba_driver.MemoryInfo(*driver.cuMemGetInfo())


@mutant
def info_remembered(_host: Any) -> None:
    """Returns the memory information that the plugin gave first."""
    given: list[Any] = []

    @around(Context, "get_memory_info")
    def get_memory_info(original: Function, self: Any) -> Any:
        if not given:
            given.append(original(self))
        return given[0]


@mutant
def info_invented(_host: Any) -> None:
    """Reports zeros when the plugin raises NotImplementedError for memory information."""

    @around(Context, "get_memory_info")
    def get_memory_info(original: Function, self: Any) -> Any:
        try:
            return original(self)
        except NotImplementedError:
            return numba_driver.MemoryInfo(0, 0)


@mutant
def ipc_handle_of_whole_array(_host: Any) -> None:
    """Passes the whole array to get_ipc_handle() when a slice is shared."""

    @around(Context, "get_ipc_handle")
    def get_ipc_handle(original: Function, self: Any, memory: Any) -> Any:
        return original(self, memory.owner)


@mutant
def ipc_handle_replaced(_host: Any) -> None:
    """Replaces the plugin's handle by an empty one."""

    @around(Context, "get_ipc_handle")
    def get_ipc_handle(original: Function, self: Any, memory: Any) -> Any:
        handle = original(self, memory)
        handle.handle = binding.CUipcMemHandle()
        return handle


@mutant
def defer_skips_plugin(host: Any) -> None:
    """Does not call the plugin's defer_cleanup() and holds back only its own queue."""

    def defer_cleanup() -> Any:
        return host.current_context().deallocations.disable()

    host.defer_cleanup = defer_cleanup


@mutant
def defer_never_ends(_host: Any) -> None:
    """Never leaves the plugin's defer_cleanup() scope."""

    @contextlib.contextmanager
    def defer_cleanup(self: Any) -> Iterator[Any]:
        self.memory_manager.defer_cleanup().__enter__()
        yield

    Context.defer_cleanup = defer_cleanup


@mutant
def empty_host_array_allocates(host: Any) -> None:
    """Requests zero bytes for an empty pinned or mapped array."""
    for name in ("pinned_array", "mapped_array"):
        _allocates_when_empty(host, name)


def _allocates_when_empty(host: Any, name: str) -> None:
    @around(host, name)
    def array(original: Function, shape: Any, *args: Any, **kwargs: Any) -> Any:
        if shape == 0:
            host.current_context().memhostalloc(0, mapped=name == "mapped_array")
        return original(shape, *args, **kwargs)


@mutant
def empty_device_array_allocates(host: Any) -> None:
    """Requests zero bytes for an empty device array."""

    @around(host, "device_array")
    def device_array(original: Function, shape: Any, *args: Any, **kwargs: Any) -> Any:
        if shape == 0:
            host.current_context().memalloc(0)
        return original(shape, *args, **kwargs)
