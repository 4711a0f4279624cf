"""Starts CUDA when it is imported: it breaks fork, CUDA_VISIBLE_DEVICES and every machine without a GPU."""

from numba.cuda.cudadrv.driver import driver

from .honest import Manager  # noqa: F401

DEVICES = driver.cuDeviceGetCount()
