"""What the sides of the CUDA Array Interface share.

A subject is an adapter of a library (runners/python/ADAPTERS.md). The worker plays the other side
itself, with driver calls alone.
"""

#: The distributions whose versions stand in a report, besides the adapted library's.
DISTRIBUTIONS = ("numba-cuda", "cuda-bindings", "cuda-core", "numpy")
