"""Hosts whose own objects, such as streams, involve the plugin or misuse the driver."""

import contextlib
from typing import Any

from numba.cuda.cudadrv import driver as numba_driver

from .mutant_registry import Function, around, mutant

driver, binding = numba_driver.driver, numba_driver.binding
Context = numba_driver.Context


@mutant
def stream_memory_from_plugin(_host: Any) -> None:
    """Allocates memory from the plugin for each stream."""

    @around(Context, "create_stream")
    def create_stream(original: Function, self: Any) -> Any:
        stream = original(self)
        stream.scratch = self.memory_manager.memalloc(64)
        return stream


@mutant
def never_destroys_streams(_host: Any) -> None:
    """Destroys no stream."""
    Context.create_stream = lambda self: numba_driver.Stream(driver.cuStreamCreate(0))


@mutant
def synchronize_calls_plugin(_host: Any) -> None:
    """Calls the plugin in synchronize()."""

    @around(Context, "synchronize")
    def synchronize(original: Function, self: Any) -> None:
        self.memory_manager.get_memory_info()
        original(self)


@mutant
def waits_for_invalid_stream(host: Any) -> None:
    """Passes a stream to the driver that does not exist."""

    @around(host, "device_array")
    def device_array(original: Function, *args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(numba_driver.CudaAPIError):
            driver.cuStreamSynchronize(binding.CUstream(0xDEAD00))
        return original(*args, **kwargs)
