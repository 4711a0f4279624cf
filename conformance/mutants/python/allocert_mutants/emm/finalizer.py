"""Plugins with faulty finalizers of device memory."""

import contextlib
import itertools
import threading
import weakref
from typing import Any

from numba.cuda import MemoryPointer
from numba.cuda.cudadrv.driver import binding, driver

from .conforming_plugin import Finalizer, Manager


class Raises(Manager):
    """Raises in every finalizer."""

    def finalizer(self, token: int) -> Finalizer:
        release = super().finalizer(token)

        def finalize() -> None:
            release()
            raise ValueError("this finalizer always raises")

        return finalize


class ReferencesMemory(Manager):
    """Refers from the finalizer to the memory, so that it never runs."""

    def memalloc(self, size: int) -> MemoryPointer:
        token = self.blocks.allocate(size)
        references: list[MemoryPointer] = []

        def finalize() -> None:
            references.clear()
            self.blocks.release(token)

        memory = self.wrap(self.blocks.live[token], size, finalize)
        references.append(memory)
        return memory


class ByAddress(Manager):
    """Looks blocks up by address, as several plugins do.

    After a reset() a late finalizer frees the block that has the address now.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sizes: dict[int, int] = {}

    def memalloc(self, size: int) -> MemoryPointer:
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        address = int(driver.cuMemAlloc(max(size, 1)))
        self.sizes[address] = size

        def finalize() -> None:
            if self.sizes.pop(address, None) is not None:
                driver.cuMemFree(address)

        return self.wrap(address, size, finalize)

    def reset(self) -> None:
        super().reset()
        while self.sizes:
            driver.cuMemFree(self.sizes.popitem()[0])


class RemembersLastReset(Manager):
    """Looks blocks up by address, and ignores late releases of what the last reset has freed.

    It forgets those of the reset before.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.numbers = itertools.count(1)
        #: The number of each live block, by its address.
        self.live: dict[int, int] = {}
        self.of_last_reset: set[int] = set()

    def memalloc(self, size: int) -> MemoryPointer:
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        address, number = int(driver.cuMemAlloc(max(size, 1))), next(self.numbers)
        self.live[address] = number

        def finalize() -> None:
            is_late = number in self.of_last_reset
            if not is_late and self.live.pop(address, None) is not None:
                driver.cuMemFree(address)

        return self.wrap(address, size, finalize)

    def reset(self) -> None:
        super().reset()
        self.of_last_reset = set(self.live.values())
        while self.live:
            driver.cuMemFree(self.live.popitem()[0])


class KeyErrorAfterReset(ByAddress):
    """Raises KeyError in a finalizer that runs after a reset."""

    def memalloc(self, size: int) -> MemoryPointer:
        address = int(driver.cuMemAlloc(max(size, 1)))
        self.sizes[address] = size

        def finalize() -> None:
            del self.sizes[address]
            driver.cuMemFree(address)

        return self.wrap(address, size, finalize)


class FreesTwice(Manager):
    """Frees each block twice."""

    def finalizer(self, token: int) -> Finalizer:
        address, release = self.blocks.live[token], super().finalizer(token)

        def finalize() -> None:
            release()
            with contextlib.suppress(Exception):
                driver.cuMemFree(address)

        return finalize


class FreesInteriorAddress(Manager):
    """Frees an address inside a block."""

    def finalizer(self, token: int) -> Finalizer:
        address, release = self.blocks.live[token], super().finalizer(token)

        def finalize() -> None:
            with contextlib.suppress(Exception):
                driver.cuMemFree(address + 256)
            release()

        return finalize


class RetainsContext(Manager):
    """Retains a context in each finalizer and never releases it."""

    def finalizer(self, token: int) -> Finalizer:
        release = super().finalizer(token)

        def finalize() -> None:
            driver.cuDevicePrimaryCtxRetain(0)
            release()

        return finalize


class LeavesContextCurrent(Manager):
    """Leaves the manager's context current in a finalizer where none was.

    A thread of the host ends up with the context of another device.
    """

    def finalizer(self, token: int) -> Finalizer:
        release = super().finalizer(token)
        handle = self.context.handle

        def finalize() -> None:
            if not int(driver.cuCtxGetCurrent()):
                driver.cuCtxSetCurrent(handle)
            release()

        return finalize


class CreatesContext(Manager):
    """Creates a context in a finalizer and leaves it current where none was."""

    def finalizer(self, token: int) -> Finalizer:
        release = super().finalizer(token)

        def finalize() -> None:
            if not int(driver.cuCtxGetCurrent()):
                driver.cuCtxCreate(None, 0, 0)
            release()

        return finalize


class MemoryReferencesContext(Manager):
    """Refers from memory to the context itself, which keeps a closed context alive."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        return MemoryPointer(self.context, binding.CUdeviceptr(address), size, finalizer=finalizer)


class FreesRepeatedly(MemoryPointer):
    """Does not check in free() whether it was freed before."""

    def free(self) -> None:
        self._finalizer()


class SecondFreeSucceeds(Manager):
    """Accepts a second free() of the same memory."""

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        return FreesRepeatedly(
            weakref.proxy(self.context), binding.CUdeviceptr(address), size, finalizer=finalizer
        )


class NeedsContext(Manager):
    """Fails in a finalizer while no context is current."""

    def finalizer(self, token: int) -> Finalizer:
        release = super().finalizer(token)

        def finalize() -> None:
            driver.cuMemGetInfo()
            release()

        return finalize


class MemoryInReferenceCycle(Manager):
    """Returns memory in a reference cycle.

    Its finalizer waits for the garbage collector.
    """

    def wrap(self, address: int, size: int, finalizer: Finalizer | None) -> MemoryPointer:
        memory = super().wrap(address, size, finalizer)
        memory.itself = memory
        return memory


class NotReentrant(Manager):
    """Fails in a finalizer that runs in the middle of an allocation, because the lock is taken.

    The lock is not reentrant. The finalizer raises where it would wait for its own thread.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lock = threading.Lock()

    def memalloc(self, size: int) -> MemoryPointer:
        with self.lock:
            return super().memalloc(size)

    def finalizer(self, token: int) -> Finalizer:
        def finalize() -> None:
            if not self.lock.acquire(blocking=False):
                raise RuntimeError("the lock is taken")
            try:
                self.blocks.release(token)
            finally:
                self.lock.release()

        return finalize


class HandsOverToAllocatingThread(Manager):
    """Lets the thread that allocates next free what finalizers of other threads release.

    It does not look whether a reset has freed the block in between.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.handed_over: list[int] = []
        self.thread = threading.get_ident()

    def memalloc(self, size: int) -> MemoryPointer:
        while self.handed_over:
            driver.cuMemFree(self.handed_over.pop())
        return super().memalloc(size)

    def finalizer(self, token: int) -> Finalizer:
        address = self.blocks.live[token]

        def finalize() -> None:
            if threading.get_ident() == self.thread:
                self.blocks.release(token)
            else:
                self.blocks.live.pop(token, None)
                self.handed_over.append(address)

        return finalize

    def reset(self) -> None:
        super().reset()
        # What was handed over before. More may come.
        while self.handed_over:
            driver.cuMemFree(self.handed_over.pop())


class _Record:
    """The plugin's own object of a block."""

    def __del__(self) -> None:
        raise AttributeError("this record lost its manager")


class RecordRaisesWhenDeleted(Manager):
    """Refers from each finalizer to an object whose __del__() raises."""

    def finalizer(self, token: int) -> Finalizer:
        release, record = super().finalizer(token), _Record()

        def finalize() -> None:
            assert record is not None
            release()

        return finalize
