"""allocert: certifies memory allocators and array exporters against their specification.

The program is ``allocert`` or ``python -m allocert``. ``allocert.numba`` holds the reference
managers as Numba plugins; nothing else in this package needs Numba. ``allocert.cai`` holds an
exporter and an importer of the CUDA Array Interface, and finds what is wrong with any object's
interface.
"""

__version__ = "0.1.0"
