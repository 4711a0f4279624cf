"""Plugins with a faulty defer_cleanup()."""

import contextlib
import functools
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from numba.cuda import MemoryPointer, PinnedMemory
from numba.cuda.cudadrv.driver import CudaAPIError, driver

from .conforming_plugin import Blocks, Finalizer, HostMemory, Manager


class ReturnsNone(Manager):
    """Returns None from defer_cleanup()."""

    def defer_cleanup(self) -> None:  # type: ignore[override]  # the mutation
        return None


class FreesHostMemory(Manager):
    """Does not call super().defer_cleanup(), so that host memory is freed inside the scope."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        self.blocks.deferring += 1
        try:
            yield
        finally:
            self.blocks.deferring -= 1
            self.blocks.flush()


class FreesDeviceMemory(Manager):
    """Frees device memory inside defer_cleanup(), as the example of NBEP 7 does."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super(Manager, self).defer_cleanup():
            yield


class NotNestable(Manager):
    """Raises when a scope begins inside a scope."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        if self.blocks.deferring:
            raise RuntimeError("defer_cleanup() is active already")
        with super().defer_cleanup():
            yield


class InnerEndsOuter(Manager):
    """Ends the outer scope when the inner one ends."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super(Manager, self).defer_cleanup():
            self.blocks.deferring = 1
            try:
                yield
            finally:
                self.blocks.deferring = 0
                self.blocks.flush()


class NeverEndsAfterException(Manager):
    """Continues to defer after an exception inside the scope, because it has no `finally`."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        self.blocks.deferring += 1
        self.deallocations._disable_count += 1
        yield
        self.deallocations._disable_count -= 1
        self.blocks.deferring -= 1
        self.blocks.flush()


class SuppressesException(Manager):
    """Suppresses an exception inside the scope."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super().defer_cleanup(), contextlib.suppress(Exception):
            yield


class NeverEnds(Manager):
    """Never frees the memory that was dropped inside the scope."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super(Manager, self).defer_cleanup():
            self.blocks.deferring += 1
            yield


class ExitRaises(Manager):
    """Raises when a scope ends."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super().defer_cleanup():
            yield
        raise RuntimeError("this scope cannot end")


class DelaysUnpinning(Manager):
    """Unpins at the end of defer_cleanup().

    A buffer cannot be pinned again inside the scope.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dropped_later: list[HostMemory] = []

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> HostMemory:
        memory = super().mempin(owner, pointer, size, mapped)
        if self.blocks.deferring:
            self.dropped_later.append(memory)
        return memory

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super().defer_cleanup():
            try:
                yield
            finally:
                self.dropped_later.clear()


class ZeroSizeFreesLiveMemory(Manager):
    """Frees the oldest live block for a request of zero bytes inside defer_cleanup()."""

    def memalloc(self, size: int) -> MemoryPointer:
        if size == 0 and self.blocks.deferring and self.blocks.live:
            oldest = min(self.blocks.live)
            self.blocks.pending.append(self.blocks.live.pop(oldest))
        return super().memalloc(size)


class StuckAfterException(NeverEndsAfterException):
    """As that plugin, but frees what waits where memory is short, and in reset()."""

    def memalloc(self, size: int) -> MemoryPointer:
        try:
            return super().memalloc(size)
        except CudaAPIError:
            self.blocks.flush()
            return super().memalloc(size)


class InnerFlushes(Manager):
    """Frees what waits when an inner scope ends, and goes on to defer."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super().defer_cleanup():
            try:
                yield
            finally:
                self.blocks.flush()


class EntryFlushes(Manager):
    """Frees what waits when an inner scope begins, and goes on to defer."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        self.blocks.flush()
        with super().defer_cleanup():
            yield


class WaitsByEvent(Manager):
    """Waits for an event at every release inside a scope."""

    def finalizer(self, token: int) -> Finalizer:
        release = super().finalizer(token)

        def finalize() -> None:
            release()
            if self.blocks.deferring:
                event = self.context.create_event()
                event.record()
                event.synchronize()

        return finalize


class WaitsAtEvery64thRelease(Manager):
    """Waits for the device at every 64th release inside a scope."""

    releases = 0

    def finalizer(self, token: int) -> Finalizer:
        release = super().finalizer(token)

        def finalize() -> None:
            release()
            if self.blocks.deferring:
                self.releases += 1
                if self.releases % 64 == 0:
                    driver.cuCtxSynchronize()

        return finalize


class DefersPerThread(Manager):
    """Defers only what the thread releases that entered the scope."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.threads: list[int] = []

    def finalizer(self, token: int) -> Finalizer:
        release = super().finalizer(token)

        def finalize() -> None:
            release()
            if threading.get_ident() not in self.threads:
                self.blocks.flush()

        return finalize

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        self.threads.append(threading.get_ident())
        try:
            with super().defer_cleanup():
                yield
        finally:
            self.threads.pop()


class ResetForgetsWaiting(Manager):
    """Forgets in reset() what waits for the end of a scope."""

    def reset(self) -> None:
        if self.blocks.deferring:
            self.blocks.pending.clear()
        super().reset()


class _GivesWaiting(Blocks):
    """Serves requests inside a scope by blocks that wait, and lets them wait on."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[int, int] = {}

    def take(self, size: int) -> int:
        waiting = self.pending if self.deferring else []
        for address in waiting:
            if self.sizes[address] == size:
                return address
        address = super().take(size)
        self.sizes[address] = size
        return address


class FreesWhatIsUsedAgain(Manager):
    """Frees at the end of a scope what it released inside and gave out again."""

    blocks_class = _GivesWaiting


class ForgetsOtherThreads(Manager):
    """Forgets what another thread releases inside a scope."""

    scope_thread = 0

    def finalizer(self, token: int) -> Finalizer:
        release = super().finalizer(token)

        def finalize() -> None:
            if self.blocks.deferring and threading.get_ident() != self.scope_thread:
                self.blocks.live.pop(token, None)
            else:
                release()

        return finalize

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        self.scope_thread = threading.get_ident()
        with super().defer_cleanup():
            yield


class RefusesInNested(Manager):
    """Serves no request inside two scopes."""

    def memalloc(self, size: int) -> MemoryPointer:
        if self.blocks.deferring > 1:
            raise MemoryError("memory is not given out inside nested scopes")
        return super().memalloc(size)


class _QueueOf64(Blocks):
    """Has room for 64 released blocks inside defer_cleanup(), and loses the first ones beyond."""

    def release(self, token: int) -> None:
        super().release(token)
        if self.deferring and len(self.pending) > 64:
            self.pending.pop(0)


class LosesReleasesBeyond64(Manager):
    """Frees the last 64 blocks that were released inside the scope, and loses all others."""

    blocks_class = _QueueOf64


class HostMemoryStaysDeferred(Manager):
    """Goes on deferring its own pinned memory after an exception.

    While it defers, it frees no released memory where memory is short.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Address of each live block. An address is used again; the key is not.
        self.pinned: dict[object, int] = {}
        self.released: list[int] = []
        self.scopes = 0

    def memhostalloc(
        self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> HostMemory:
        if mapped:
            return super().memhostalloc(size, mapped, portable, wc)
        flags = 4 * wc | 1 * portable
        try:
            pointer = int(driver.cuMemHostAlloc(size, flags))
        except CudaAPIError:
            if self.scopes:
                raise
            self.free_released()
            pointer = int(driver.cuMemHostAlloc(size, flags))
        key, context = object(), weakref.proxy(self.context)
        self.pinned[key] = pointer
        return PinnedMemory(context, pointer, size, finalizer=functools.partial(self.release, key))

    def release(self, key: object) -> None:
        if key in self.pinned:
            self.released.append(self.pinned.pop(key))
        if not self.scopes:
            self.free_released()

    def free_released(self) -> None:
        while self.released:
            driver.cuMemFreeHost(self.released.pop())

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with super().defer_cleanup():
            self.scopes += 1
            yield
            self.scopes -= 1
            self.free_released()

    def reset(self) -> None:
        super().reset()
        self.released.extend(self.pinned.values())
        self.pinned.clear()
        self.free_released()
