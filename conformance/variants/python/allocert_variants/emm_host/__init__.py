"""Hosts that use what the texts leave open: numba-cuda, repaired and changed."""

import ctypes
from typing import Any

from allocert_mutants.emm_host import Host
from numba.cuda.cudadrv import driver as numba_driver

_CUDA = ctypes.CDLL("libcuda.so.1")


class _Module:
    """A module of cuModuleLoadDataEx()."""

    def __init__(self, deallocations: Any, ptx: bytes) -> None:
        self.handle = ctypes.c_void_p()
        code = _CUDA.cuModuleLoadDataEx(ctypes.byref(self.handle), ptx, 0, None, None)
        if code != 0:
            raise numba_driver.CudaAPIError(code, "cuModuleLoadDataEx")
        self._deallocations = deallocations

    def __del__(self) -> None:
        self._deallocations.add_item(_CUDA.cuModuleUnload, self.handle)


def _load_by_module(_host: Any) -> None:
    def create_module_ptx(self: Any, ptx: str) -> int:
        module = _Module(self.deallocations, ptx.encode() + b"\0")
        key = int(module.handle.value or 0)
        self.modules[key] = module
        return key

    numba_driver.Context.create_module_ptx = create_module_ptx


loads_modules_by_cumoduleloaddataex = Host(_load_by_module)
