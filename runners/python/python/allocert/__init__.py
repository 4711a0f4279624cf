"""allocert: certifies CUDA memory-manager plugins against their specification, without a GPU.

The program is ``allocert`` or ``python -m allocert``. ``allocert.numba`` holds the reference managers as Numba plugins;
nothing else in this package needs Numba. ``allocert.cai`` holds an exporter and an importer of the CUDA Array Interface, and
says what is wrong with anybody's.
"""

__version__ = "0.1.0"
