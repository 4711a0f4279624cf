"""Hosts that use what the texts leave open: numba-cuda, repaired and changed."""

import contextlib
import ctypes
import gc
from typing import Any

from allocert_mutants.emm_host import Host
from allocert_mutants.emm_host.mutant_registry import Function, around
from numba import cuda
from numba.cuda.cudadrv import devices
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


def _ask_for_information(_host: Any) -> None:
    def ask(context: Any) -> None:
        with contextlib.suppress(NotImplementedError, RuntimeError):
            context.memory_manager.get_memory_info()

    @around(numba_driver.Context, "memalloc")
    def memalloc(original: Function, self: Any, *args: Any, **kwargs: Any) -> Any:
        ask(self)
        memory = original(self, *args, **kwargs)
        ask(self)
        return memory

    @around(numba_driver.Context, "get_memory_info")
    def get_memory_info(original: Function, self: Any) -> Any:
        ask(self)
        return original(self)


asks_for_memory_information_often = Host(_ask_for_information)


def _initialize_eagerly(_host: Any) -> None:
    @around(numba_driver.Context, "__init__")
    def __init__(original: Function, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        numba_driver.driver.cuCtxPushCurrent(self.handle)
        self.memory_manager.initialize()
        numba_driver.driver.cuCtxPopCurrent()

    for name in ("memalloc", "memhostalloc", "mempin"):

        @around(numba_driver.Context, name)
        def allocate(original: Function, self: Any, *args: Any, **kwargs: Any) -> Any:
            self.memory_manager.initialize()
            return original(self, *args, **kwargs)


initializes_with_the_manager = Host(_initialize_eagerly)


def _defer_around_transfers(host: Any) -> None:
    for name in ("to_device", "device_array"):

        @around(host, name)
        def transfer(original: Function, *args: Any, **kwargs: Any) -> Any:
            with cuda.defer_cleanup():
                return original(*args, **kwargs)


defers_around_transfers = Host(_defer_around_transfers)


def _keep_handles(_host: Any) -> None:
    kept: list[Any] = []

    @around(numba_driver.Context, "get_ipc_handle")
    def get_ipc_handle(original: Function, self: Any, memory: Any) -> Any:
        kept.append(original(self, memory))
        return kept[-1]

    @around(numba_driver.Context, "reset")
    def reset(original: Function, self: Any) -> None:
        kept.clear()
        original(self)


keeps_ipc_handles_until_reset = Host(_keep_handles)


def _reset_twice(_host: Any) -> None:
    @around(numba_driver.Context, "reset")
    def reset(original: Function, self: Any) -> None:
        original(self)
        self.memory_manager.reset()


resets_twice = Host(_reset_twice)


def _read_version(host: Any) -> None:
    @around(host, "set_memory_manager")
    def set_memory_manager(original: Function, plugin: Any) -> None:
        original(plugin)
        original(plugin)

    @around(numba_driver.Context, "__init__")
    def __init__(original: Function, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if self.memory_manager.interface_version != 1:
            raise RuntimeError("version 1 required")


reads_interface_version_repeatedly = Host(_read_version)


def _close_last_first(_host: Any) -> None:
    def destroy_all_contexts(self: Any) -> None:
        for device in reversed(list(self.gpus)):
            device.reset()

    devices._Runtime._destroy_all_contexts = destroy_all_contexts


closes_last_device_first = Host(_close_last_first)


def _derive_classes(host: Any) -> None:
    for name in ("MappedMemory", "PinnedMemory", "HostOnlyCUDAMemoryManager", "IpcHandle"):
        cls = getattr(cuda, name)
        setattr(host, name, type(cls)(name, (cls,), {"__doc__": cls.__doc__}))


offers_subclasses = Host(_derive_classes)


def _borrow_staging_memory(host: Any) -> None:
    @around(host, "to_device")
    def to_device(original: Function, *args: Any, **kwargs: Any) -> Any:
        staging = cuda.current_context().memhostalloc(64)
        try:
            return original(*args, **kwargs)
        finally:
            del staging


borrows_staging_memory = Host(_borrow_staging_memory)


def _defer_with_context(_host: Any) -> None:
    @around(numba_driver.Context, "prepare_for_use")
    def prepare_for_use(original: Function, self: Any) -> None:
        original(self)
        if not hasattr(self, "has_deferred"):
            self.has_deferred = True
            with self.memory_manager.defer_cleanup():
                pass


defers_with_each_context = Host(_defer_with_context)


def _defer_twice(host: Any) -> None:
    @around(host, "defer_cleanup")
    @contextlib.contextmanager
    def defer_cleanup(original: Function) -> Any:
        with original(), original():
            yield


defers_twice = Host(_defer_twice)


def _have_workspace(_host: Any) -> None:
    @around(numba_driver.Context, "memalloc")
    def memalloc(original: Function, self: Any, size: int) -> Any:
        if not hasattr(self, "workspace"):
            self.workspace = original(self, 4096)
        return original(self, size)

    @around(numba_driver.Context, "reset")
    def reset(original: Function, self: Any) -> None:
        self.__dict__.pop("workspace", None)
        original(self)


has_workspace = Host(_have_workspace)


def _take_memory_for_moment(_host: Any) -> None:
    @around(numba_driver.Context, "memalloc")
    def memalloc(original: Function, self: Any, size: int) -> Any:
        temporary = original(self, 64)
        del temporary
        return original(self, size)


takes_memory_for_moment = Host(_take_memory_for_moment)


def _ask_again(_host: Any) -> None:
    for name in ("memalloc", "memhostalloc", "mempin", "get_ipc_handle"):

        @around(numba_driver.Context, name)
        def request(original: Function, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except Exception:  # noqa: BLE001 - a plugin may raise what it likes
                gc.collect()
                return original(*args, **kwargs)


asks_again = Host(_ask_again)


def _round_sizes_up(_host: Any) -> None:
    for name in ("memalloc", "memhostalloc"):

        @around(numba_driver.Context, name)
        def request(original: Function, self: Any, size: int, *args: Any, **kwargs: Any) -> Any:
            return original(self, -(-size // 256) * 256, *args, **kwargs)


rounds_sizes_up = Host(_round_sizes_up)
