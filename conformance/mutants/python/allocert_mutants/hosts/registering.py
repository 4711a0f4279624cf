"""Faults in how a host takes a plugin and keeps it."""

from numba.cuda.cudadrv import driver as numba_driver

from . import repairs
from .registry import around, mutant

driver = numba_driver.driver
Context = numba_driver.Context


@mutant
def ignores_environment(_host):
    def ensure_memory_manager():
        numba_driver._memory_manager = (
            numba_driver._memory_manager or numba_driver.NumbaCUDAMemoryManager
        )

    numba_driver._ensure_memory_manager = ensure_memory_manager


@mutant
def keeps_first(host):
    take = host.set_memory_manager
    host.set_memory_manager = lambda plugin: None if numba_driver._memory_manager else take(plugin)


@mutant
def swaps_at_once(host):
    take = host.set_memory_manager

    def set_memory_manager(plugin):
        take(plugin)
        for device in driver.devices.values():
            if device.primary_context is not None:
                device.primary_context.memory_manager = plugin(context=device.primary_context)

    host.set_memory_manager = set_memory_manager


@mutant
def never_changes(host):
    """What was set when the first context was made is used for ever."""
    first = []

    @around(Context, "__init__")
    def __init__(original, self, *args, **kwargs):
        numba_driver._ensure_memory_manager()
        first.append(numba_driver._memory_manager)
        numba_driver._memory_manager = first[0]
        original(self, *args, **kwargs)


@mutant
def renews_manager(host):
    ask = host.current_context

    def current_context(*args):
        context = ask(*args)
        context.memory_manager = type(context.memory_manager)(context=context)
        return context

    host.current_context = current_context


@mutant
def lets_function_win(host):
    host.set_memory_manager = repairs._accept


@mutant
def refuses_all(host):
    def set_memory_manager(_plugin):
        raise RuntimeError("this host takes no plugin")

    host.set_memory_manager = set_memory_manager


@mutant
def forgets_registration(host):
    take = host.set_memory_manager

    def set_memory_manager(plugin):
        take(plugin)
        numba_driver._memory_manager = None

    host.set_memory_manager = set_memory_manager


@mutant
def starts_driver(host):
    take = host.set_memory_manager

    def set_memory_manager(plugin):
        take(plugin)
        driver.cuDeviceGetCount()

    host.set_memory_manager = set_memory_manager


@mutant
def shares_manager(_host):
    made = {}

    @around(Context, "__init__")
    def __init__(original, self, *args, **kwargs):
        numba_driver._ensure_memory_manager()
        plugin = numba_driver._memory_manager
        numba_driver._memory_manager = lambda context: (
            made.setdefault(plugin, None) or plugin(context=context)
        )
        original(self, *args, **kwargs)
        made[plugin] = self.memory_manager
        numba_driver._memory_manager = plugin


@mutant
def wants_plugin(_host):
    @around(numba_driver, "_ensure_memory_manager")
    def ensure_memory_manager(original):
        original()
        if numba_driver._memory_manager is numba_driver.NumbaCUDAMemoryManager:
            raise RuntimeError("no memory manager is set")


@mutant
def hides_classes(host):
    host.IpcHandle = None


@mutant
def takes_every_version(host):
    def set_memory_manager(plugin):
        plugin(context=None).interface_version  # noqa: B018 - read, and not looked at
        numba_driver._memory_manager = plugin

    host.set_memory_manager = set_memory_manager


@mutant
def takes_before_looking(host):
    take = host.set_memory_manager

    def set_memory_manager(plugin):
        numba_driver._memory_manager = plugin
        take(plugin)

    host.set_memory_manager = set_memory_manager


@mutant
def refuses_by_value_error(host):
    take = host.set_memory_manager

    def set_memory_manager(plugin):
        try:
            take(plugin)
        except RuntimeError as error:
            raise ValueError(str(error)) from error

    host.set_memory_manager = set_memory_manager


@mutant
def refuses_without_number(host):
    take = host.set_memory_manager

    def set_memory_manager(plugin):
        try:
            take(plugin)
        except RuntimeError as error:
            raise RuntimeError("the interface version of this plugin is not supported") from error

    host.set_memory_manager = set_memory_manager


@mutant
def looks_late(host):
    def set_memory_manager(plugin):
        numba_driver._memory_manager = plugin

    host.set_memory_manager = set_memory_manager
