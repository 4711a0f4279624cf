"""Faults in defer_cleanup()."""

import contextlib

from .honest import Manager


class NotContextManager(Manager):
    def defer_cleanup(self):
        return None


class ForgetsHost(Manager):
    """Leaves out super().defer_cleanup(): host memory is freed inside the scope."""

    @contextlib.contextmanager
    def defer_cleanup(self):
        self.blocks.deferring += 1
        try:
            yield
        finally:
            self.blocks.deferring -= 1
            self.blocks.flush()


class FreesAnyway(Manager):
    """Keeps the scope for host memory only, as NBEP 7's example does."""

    @contextlib.contextmanager
    def defer_cleanup(self):
        with super(Manager, self).defer_cleanup():
            yield


class NotNestable(Manager):
    @contextlib.contextmanager
    def defer_cleanup(self):
        if self.blocks.deferring:
            raise RuntimeError("defer_cleanup() is active already")
        with super().defer_cleanup():
            yield


class EndsWithInner(Manager):
    """The inner scope's end ends the outer one too."""

    @contextlib.contextmanager
    def defer_cleanup(self):
        with super(Manager, self).defer_cleanup():
            self.blocks.deferring = 1
            try:
                yield
            finally:
                self.blocks.deferring = 0
                self.blocks.flush()


class ForgetsException(Manager):
    """No try: an exception leaves the deferral on for ever."""

    @contextlib.contextmanager
    def defer_cleanup(self):
        self.blocks.deferring += 1
        self.deallocations._disable_count += 1
        yield
        self.deallocations._disable_count -= 1
        self.blocks.deferring -= 1
        self.blocks.flush()


class SwallowsException(Manager):
    @contextlib.contextmanager
    def defer_cleanup(self):
        with super().defer_cleanup(), contextlib.suppress(Exception):
            yield


class NeverEnds(Manager):
    @contextlib.contextmanager
    def defer_cleanup(self):
        with super(Manager, self).defer_cleanup():
            self.blocks.deferring += 1
            yield


class UnpinsLater(Manager):
    """Unpinning waits for the end of the scope, so the same buffer cannot be pinned again inside it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.kept = []

    def mempin(self, owner, pointer, size, mapped=False):
        memory = super().mempin(owner, pointer, size, mapped)
        if self.blocks.deferring:
            self.kept.append(memory)
        return memory

    @contextlib.contextmanager
    def defer_cleanup(self):
        with super().defer_cleanup():
            try:
                yield
            finally:
                self.kept.clear()


class ExitRaises(Manager):
    @contextlib.contextmanager
    def defer_cleanup(self):
        with super().defer_cleanup():
            yield
        raise RuntimeError("this scope cannot be left")
