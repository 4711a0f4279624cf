"""Faults in reset() and initialize()."""

from numba.cuda.cudadrv.driver import driver

from .honest import Manager


class NeedsInitialize(Manager):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ready = False

    def initialize(self):
        super().initialize()
        self.ready = True

    def reset(self):
        if not self.ready:
            raise RuntimeError("not initialized")
        super().reset()


class ForgetsHost(Manager):
    """Leaves out super().reset(): mapped memory stays with the driver."""

    def reset(self):
        self.blocks.reset()


class ForgetsDevice(Manager):
    def reset(self):
        super(Manager, self).reset()


class AlwaysRaises(Manager):
    def reset(self):
        super().reset()
        raise RuntimeError("reset() does its work and complains")


class OnceOnly(Manager):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.done = False

    def reset(self):
        if self.done:
            raise RuntimeError("reset() was called before")
        super().reset()
        self.done = True


class ReturnsSelf(Manager):
    def reset(self):
        super().reset()
        return self


class NeedsCurrent(Manager):
    def reset(self):
        driver.cuMemGetInfo()
        super().reset()


class NeedsInitializeAfter(Manager):
    """After reset() no request is served before a new initialize()."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ready = True

    def initialize(self):
        super().initialize()
        self.ready = True

    def memalloc(self, size):
        if not self.ready:
            raise RuntimeError("not initialized")
        return super().memalloc(size)

    def reset(self):
        super().reset()
        self.ready = False


_everybody = []


class AllContexts(Manager):
    """One reset() empties the memory of every manager."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        _everybody.append(self.blocks)

    def reset(self):
        super().reset()
        for blocks in _everybody:
            blocks.reset()


class InitializeReturns(Manager):
    def initialize(self):
        super().initialize()
        return True


class InitializeAllocates(Manager):
    def initialize(self):
        super().initialize()
        self.scratch = self.memalloc(1 << 20)


class InitializeOnce(Manager):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ready = False

    def initialize(self):
        super().initialize()
        if self.ready:
            raise RuntimeError("already initialized")
        self.ready = True
