"""Hosts that reset managers and close contexts wrongly."""

import contextlib
import weakref
from typing import Any

from numba.cuda.cudadrv import devices
from numba.cuda.cudadrv import driver as numba_driver

from .mutant_registry import Function, around, mutant

driver = numba_driver.driver
Context, Device = numba_driver.Context, numba_driver.Device


@mutant
def never_resets(_host: Any) -> None:
    """Does not reset the manager in Context.reset()."""

    def reset(self: Any) -> None:
        self.modules.clear()
        self.deallocations.clear()

    Context.reset = reset


@mutant
def resets_once(_host: Any) -> None:
    """Resets the manager at the first reset of its context, and when it closes the context."""
    done: list[Any] = []

    @_around_reset_of_user
    def reset(original: Function, context: Any) -> None:
        if any(context is one for one in done):
            context.modules.clear()
            return
        done.append(context)
        original(context)


@mutant
def new_manager_at_reset(_host: Any) -> None:
    """Makes a new manager after each reset of a context that stays open."""

    @_around_reset_of_user
    def reset(original: Function, context: Any) -> None:
        original(context)
        context.memory_manager = type(context.memory_manager)(context=context)
        context.memory_manager.initialize()


def _around_reset_of_user(function: Function) -> Function:
    """Replaces Context.reset(), except where the device is closed."""
    closing: list[Any] = []

    @around(Device, "reset")
    def close(original: Function, self: Any) -> None:
        closing.append(self)
        try:
            original(self)
        finally:
            closing.pop()

    @around(Context, "reset")
    def reset(original: Function, self: Any) -> None:
        if closing:
            original(self)
        else:
            function(original, self)

    return function


@mutant
def resets_after_transfer(host: Any) -> None:
    """Resets the manager at the end of a transferred array, as if nothing else were live."""

    @around(host, "to_device")
    def to_device(original: Function, *args: Any, **kwargs: Any) -> Any:
        array = original(*args, **kwargs)
        weakref.finalize(array, host.current_context().memory_manager.reset)
        return array


@mutant
def reset_error_ignored(_host: Any) -> None:
    """Hides an error of the plugin's reset() from the caller."""

    @around(Context, "reset")
    def reset(original: Function, self: Any) -> None:
        with contextlib.suppress(RuntimeError):
            original(self)


@mutant
def refuses_after_failed_reset(_host: Any) -> None:
    """Serves no request after a reset() that failed."""

    @around(Context, "reset")
    def reset(original: Function, self: Any) -> None:
        try:
            original(self)
        except RuntimeError:
            self.memory_manager = None
            raise


@mutant
def closes_first_device_only(_host: Any) -> None:
    """Closes no device but the first."""
    devices._Runtime._destroy_all_contexts = lambda self: self.gpus[0].reset()


@mutant
def releases_context_before_reset(_host: Any) -> None:
    """Releases the context before it resets the manager in close()."""

    @around(Device, "reset")
    def reset(original: Function, self: Any) -> None:
        context, self.primary_context = self.primary_context, None
        if context is not None:
            driver.cuDevicePrimaryCtxRelease(self.id)
            context.reset()
        original(self)
