"""Hosts that register plugins and create managers wrongly."""

import importlib
from typing import Any

from numba.cuda.cudadrv import driver as numba_driver

from . import numba_repairs
from .mutant_registry import Function, around, mutant

driver = numba_driver.driver
Context = numba_driver.Context


@mutant
def ignores_environment(_host: Any) -> None:
    """Does not read the environment variable."""

    def ensure_memory_manager() -> None:
        numba_driver._memory_manager = (
            numba_driver._memory_manager or numba_driver.NumbaCUDAMemoryManager
        )

    numba_driver._ensure_memory_manager = ensure_memory_manager


@mutant
def keeps_first_plugin(host: Any) -> None:
    """Keeps the first plugin and ignores all others."""

    @around(host, "set_memory_manager")
    def set_memory_manager(original: Function, plugin: Any) -> None:
        if not numba_driver._memory_manager:
            original(plugin)


@mutant
def replaces_existing_managers(host: Any) -> None:
    """Replaces the managers of existing contexts at registration."""

    @around(host, "set_memory_manager")
    def set_memory_manager(original: Function, plugin: Any) -> None:
        original(plugin)
        for device in driver.devices.values():
            if device.primary_context is not None:
                device.primary_context.memory_manager = plugin(context=device.primary_context)


@mutant
def keeps_plugin_after_close(host: Any) -> None:
    """Uses the plugin of the first context for ever, even after close()."""
    first: list[Any] = []

    @around(Context, "__init__")
    def __init__(original: Function, self: Any, *args: Any, **kwargs: Any) -> None:
        numba_driver._ensure_memory_manager()
        first.append(numba_driver._memory_manager)
        numba_driver._memory_manager = first[0]
        original(self, *args, **kwargs)


@mutant
def recreates_manager(host: Any) -> None:
    """Creates a manager at every request for the context."""

    @around(host, "current_context")
    def current_context(original: Function, *args: Any) -> Any:
        context = original(*args)
        context.memory_manager = type(context.memory_manager)(context=context)
        return context


@mutant
def function_overrides_environment(host: Any) -> None:
    """Prefers set_memory_manager() to the environment variable."""
    host.set_memory_manager = numba_repairs.install


@mutant
def refuses_every_plugin(host: Any) -> None:
    """Refuses every plugin."""

    def set_memory_manager(_plugin: Any) -> None:
        raise RuntimeError("this host takes no plugin")

    host.set_memory_manager = set_memory_manager


@mutant
def forgets_registration(host: Any) -> None:
    """Accepts a plugin and does not use it."""

    @around(host, "set_memory_manager")
    def set_memory_manager(original: Function, plugin: Any) -> None:
        original(plugin)
        numba_driver._memory_manager = None


@mutant
def registration_initializes_cuda(host: Any) -> None:
    """Initializes CUDA at registration."""

    @around(host, "set_memory_manager")
    def set_memory_manager(original: Function, plugin: Any) -> None:
        original(plugin)
        driver.cuDeviceGetCount()


@mutant
def shares_one_manager(_host: Any) -> None:
    """Uses one manager for all contexts."""
    managers: dict[Any, Any] = {}

    @around(Context, "__init__")
    def __init__(original: Function, self: Any, *args: Any, **kwargs: Any) -> None:
        numba_driver._ensure_memory_manager()
        plugin = numba_driver._memory_manager
        numba_driver._memory_manager = lambda context: (
            managers.setdefault(plugin, None) or plugin(context=context)
        )
        original(self, *args, **kwargs)
        managers[plugin] = self.memory_manager
        numba_driver._memory_manager = plugin


@mutant
def needs_plugin(_host: Any) -> None:
    """Raises where no plugin is registered."""

    @around(numba_driver, "_ensure_memory_manager")
    def ensure_memory_manager(original: Function) -> None:
        original()
        if numba_driver._memory_manager is numba_driver.NumbaCUDAMemoryManager:
            raise RuntimeError("no memory manager is set")


@mutant
def lacks_ipc_handle(host: Any) -> None:
    """Does not export IpcHandle."""
    host.IpcHandle = None


@mutant
def accepts_every_version(host: Any) -> None:
    """Reads the interface version and accepts any."""

    def set_memory_manager(plugin: Any) -> None:
        plugin(context=None).interface_version  # noqa: B018 - reads it and ignores it
        numba_driver._memory_manager = plugin

    host.set_memory_manager = set_memory_manager


@mutant
def installs_refused_plugin(host: Any) -> None:
    """Installs a plugin before it refuses its version."""

    @around(host, "set_memory_manager")
    def set_memory_manager(original: Function, plugin: Any) -> None:
        numba_driver._memory_manager = plugin
        original(plugin)


@mutant
def refuses_with_value_error(host: Any) -> None:
    """Refuses a version with a ValueError."""

    @around(host, "set_memory_manager")
    def set_memory_manager(original: Function, plugin: Any) -> None:
        try:
            original(plugin)
        except RuntimeError as error:
            raise ValueError(str(error)) from error


@mutant
def refusal_lacks_version(host: Any) -> None:
    """Does not name the required version in its refusal."""

    @around(host, "set_memory_manager")
    def set_memory_manager(original: Function, plugin: Any) -> None:
        try:
            original(plugin)
        except RuntimeError as error:
            raise RuntimeError("the interface version of this plugin is not supported") from error


@mutant
def never_reads_version(host: Any) -> None:
    """Does not read the interface version at registration."""

    def set_memory_manager(plugin: Any) -> None:
        numba_driver._memory_manager = plugin

    host.set_memory_manager = set_memory_manager


@mutant
def environment_skips_version(host: Any) -> None:
    """Reads the interface version in set_memory_manager() alone."""

    def ensure_memory_manager() -> None:
        if numba_driver._memory_manager:
            return
        name = numba_driver.config.CUDA_MEMORY_MANAGER
        if name == "default":
            numba_driver._memory_manager = numba_driver.NumbaCUDAMemoryManager
        else:
            module = importlib.import_module(name)
            numba_driver._memory_manager = module._numba_memory_manager

    numba_driver._ensure_memory_manager = ensure_memory_manager
