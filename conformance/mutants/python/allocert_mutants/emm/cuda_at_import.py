"""A plugin that initializes CUDA when it is imported.

It breaks fork(), CUDA_VISIBLE_DEVICES, and every machine without a GPU.
"""

from numba.cuda.cudadrv.driver import driver

from .conforming_plugin import Manager as Manager  # noqa: PLC0414 - the subject

DEVICE_COUNT = driver.cuDeviceGetCount()
