"""Plugins that answer every call in the same way."""

import contextlib
from typing import Any, NoReturn

from numba.cuda.cudadrv.driver import CudaAPIError, binding

from .conforming_plugin import Manager


class DoesNothing(Manager):
    """Returns None from every method."""

    def memalloc(self, size: int) -> None:
        pass

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> None:
        pass

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> None:
        pass

    def get_ipc_handle(self, memory: Any) -> None:
        pass

    def get_memory_info(self) -> None:
        pass

    def reset(self) -> None:
        pass

    def defer_cleanup(self) -> Any:
        return contextlib.nullcontext()


def _refuse(*_arguments: Any, **_named: Any) -> NoReturn:
    raise RuntimeError("this plugin always refuses")


class AlwaysRaises(Manager):
    """Raises in every method."""

    initialize = memalloc = memhostalloc = mempin = _refuse
    get_ipc_handle = get_memory_info = reset = defer_cleanup = _refuse


def _no_memory(*_arguments: Any, **_named: Any) -> NoReturn:
    raise CudaAPIError(binding.CUresult.CUDA_ERROR_OUT_OF_MEMORY, "this plugin never has memory")


class AlwaysOutOfMemory(Manager):
    """Reports a lack of memory for every request."""

    memalloc = memhostalloc = mempin = _no_memory
