"""Faults in what a host does at the end of memory, contexts and processes, and with its own objects."""

import atexit
import contextlib
import os
import sys
import time
import weakref

from numba.cuda.cudadrv import devices
from numba.cuda.cudadrv import driver as numba_driver

from .registry import around, mutant

driver, binding = numba_driver.driver, numba_driver.binding
Context, Device = numba_driver.Context, numba_driver.Device


def _finalizers(change):
    """Every finalizer that a plugin gives is replaced by `change(finalizer, memory's address)`."""
    for cls in (numba_driver.MemoryPointer, numba_driver.PinnedMemory):

        @around(cls, "__init__")
        def __init__(original, self, context, pointer, size, owner=None, finalizer=None):
            changed = None if finalizer is None else change(finalizer, pointer)
            original(self, context, pointer, size, owner=owner, finalizer=changed)


@mutant
def queues_finalizers(_host):
    pending = []
    _finalizers(lambda finalizer, _pointer: lambda: pending.append(finalizer))

    @around(Context, "reset")
    def reset(original, self):
        while pending:
            pending.pop()()
        original(self)


@mutant
def finalizes_twice(_host):
    _finalizers(lambda finalizer, _pointer: lambda: (finalizer(), finalizer()))


@mutant
def raises_when_dropped(_host):
    def change(finalizer, _pointer):
        def changed():
            finalizer()
            raise RuntimeError("a queue of the host is full")

        return changed

    _finalizers(change)


@mutant
def uses_after_finalizer(_host):
    def change(finalizer, pointer):
        def changed():
            finalizer()
            try:
                driver.cuMemsetD8(pointer, 0, 1)
            except numba_driver.CudaAPIError:
                pass  # it was freed

        return changed

    _finalizers(change)


@mutant
def frees_with_slice(_host):
    @around(numba_driver.MemoryPointer, "view")
    def view(original, self, *args, **kwargs):
        made, owner = original(self, *args, **kwargs), self.owner
        weakref.finalize(made, owner._finalizer)
        return made


@mutant
def never_resets(_host):
    def reset(self):
        self.modules.clear()
        self.deallocations.clear()

    Context.reset = reset


@mutant
def resets_idle(host):
    """With the end of a transferred array nothing is live any more, it believes."""
    make = host.to_device

    def to_device(*args, **kwargs):
        array = make(*args, **kwargs)
        weakref.finalize(array, host.current_context().memory_manager.reset)
        return array

    host.to_device = to_device


@mutant
def swallows_reset_errors(_host):
    @around(Context, "reset")
    def reset(original, self):
        with contextlib.suppress(RuntimeError):
            original(self)


@mutant
def gives_up_after_reset(_host):
    """An error of reset() leaves the context behind without a manager."""

    @around(Context, "reset")
    def reset(original, self):
        try:
            original(self)
        except RuntimeError:
            self.memory_manager = None
            raise


@mutant
def closes_first_device(_host):
    devices._Runtime._destroy_all_contexts = lambda self: self.gpus[0].reset()


@mutant
def lets_go_before_reset(_host):
    @around(Device, "reset")
    def reset(original, self):
        context, self.primary_context = self.primary_context, None
        if context is not None:
            driver.cuDevicePrimaryCtxRelease(self.id)
            context.reset()
        original(self)


@mutant
def streams_from_plugin(_host):
    @around(Context, "create_stream")
    def create_stream(original, self):
        stream = original(self)
        stream.scratch = self.memory_manager.memalloc(64)
        return stream


@mutant
def keeps_streams(_host):
    Context.create_stream = lambda self: numba_driver.Stream(driver.cuStreamCreate(0))


@mutant
def waits_through_plugin(_host):
    @around(Context, "synchronize")
    def synchronize(original, self):
        self.memory_manager.get_memory_info()
        original(self)


@mutant
def misuses_driver(host):
    make = host.device_array

    def device_array(*args, **kwargs):
        try:
            driver.cuStreamSynchronize(binding.CUstream(0xDEAD00))
        except numba_driver.CudaAPIError:
            pass  # there is no such stream
        return make(*args, **kwargs)

    host.device_array = device_array


@mutant
def crashes(host):
    host.device_array = lambda *_args, **_kwargs: os.abort()


@mutant
def hangs(host):
    host.device_array = lambda *_args, **_kwargs: time.sleep(3600)


@mutant
def chatters(host):
    make = host.device_array

    def device_array(*args, **kwargs):
        print("an array, as you wish")
        return make(*args, **kwargs)

    host.device_array = device_array


@mutant
def chatters_at_exit(host):
    make = host.device_array

    def device_array(*args, **kwargs):
        atexit.register(print, "the host says goodbye", file=sys.stderr)
        return make(*args, **kwargs)

    host.device_array = device_array
