"""Faults at the end of a manager."""

from numba.cuda.cudadrv.driver import driver

from .honest import Manager


class Raises(Manager):
    def __del__(self):
        raise RuntimeError("this manager cannot be let go")


class NeedsCurrent(Manager):
    """Asks the driver when it ends: its context may be gone by then."""

    def __del__(self):
        if self.context is not None:
            driver.cuMemGetInfo()
