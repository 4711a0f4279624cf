"""allocert: certifies CUDA memory-manager plugins against their specification, without a GPU.

The program is ``allocert`` or ``python -m allocert``. ``allocert.numba`` holds the reference managers as Numba plugins;
nothing else in this package needs Numba.
"""

__version__ = "0.1.0"
