"""The interface cai: the CUDA Array Interface, its producers and its consumers.

A subject is an adapter of a library (runners/python/ADAPTERS.md). The worker plays the other side itself, by driver calls alone.
"""

#: The distributions whose versions a reader of a report wants to know, besides the adapted library's.
DISTRIBUTIONS = ("numba-cuda", "cuda-bindings", "cuda-core", "numpy")


def prepare(side):
    """Makes the adapters importable. Returns the classes of subjects and of cases."""
    from .offer import offer
    from .pair import Pair, PairStage
    from .stage import Stage
    from .subject import Consumer, Producer

    offer()
    if side == "cai-pair":
        return Pair, PairStage
    return (Producer if side == "cai-producer" else Consumer), Stage
