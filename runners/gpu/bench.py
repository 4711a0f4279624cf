"""The reference pool as a Numba plugin beside RMM's plugin: one process, one context, `ctx.memalloc(size)` and the drop of what it returned.

    python runners/gpu/bench.py                                        # a GPU: RMM with each of its resources
    LD_LIBRARY_PATH=DIR PYTHONPATH=runners/python/tests/standin \\
        python runners/gpu/bench.py --rmm rmm_standin                  # the software driver, DIR with its libcuda.so.1

Both plugins are instances on the same context, without `set_memory_manager()`: each has its turn as `ctx.memory_manager`. The plugins take turns
in every round, so that what else the machine does meets all of them. A figure is the median over the rounds. Exit code: 0 if the bar is
met, 1 if it is missed, 2 if a plugin cannot be used.
"""

import argparse
import gc
import importlib
import importlib.metadata
import platform
import statistics
import sys
import time

from numba import cuda

from allocert.numba import PoolManager

SIZES = {"256 B": 256, "4 KiB": 4096, "1 MiB": 1 << 20}
#: Allocations of each plugin that are alive all the time, so that no pool is empty.
LIVE = 100
#: At most this share of the time of RMM's plugin over RMM's pool, the resource that does what ours does.
BAR, AGAINST = 1 / 3, "pool"
POOL_BYTES = 1 << 28


class Contestant:
    """A plugin on a context, and what has to be done before its turn."""

    def __init__(self, name, manager, prepare=lambda: None):
        self.name, self._manager, self._prepare = name, manager, prepare
        self._held = []
        self.rounds = {label: [] for label in SIZES}

    def start(self, context):
        self._enter(context)
        self._manager.initialize()
        self._held = [
            context.memalloc(size) for size in SIZES.values() for _ in range(LIVE // len(SIZES))
        ]
        return [(int(memory.device_pointer), memory.size) for memory in self._held]

    def turn(self, context, pairs):
        self._enter(context)
        for label, size in SIZES.items():
            self.rounds[label].append(pair_us(context.memalloc, size, pairs))

    def stop(self):
        self._held = []

    def median_us(self, label):
        return statistics.median(self.rounds[label])

    def _enter(self, context):
        self._prepare()
        context.memory_manager = self._manager


def pair_us(memalloc, size, pairs):
    gc.collect()
    gc.disable()
    try:
        begin = time.perf_counter()
        for _ in range(pairs):
            memory = memalloc(size)
            del memory
        return (time.perf_counter() - begin) / pairs * 1e6
    finally:
        gc.enable()


def resources():
    """RMM's resources by name. Each stays alive as long as its buffers."""
    from rmm import mr

    upstream = mr.CudaMemoryResource()
    return {
        "cuda, RMM's default": upstream,
        AGAINST: mr.PoolMemoryResource(upstream, initial_pool_size=POOL_BYTES),
        "arena": mr.ArenaMemoryResource(upstream, arena_size=POOL_BYTES),
        "async": mr.CudaAsyncMemoryResource(initial_pool_size=POOL_BYTES),
    }


def contestants(context, module):
    plugin = importlib.import_module(module)._numba_memory_manager
    yield Contestant("allocert.numba", PoolManager(context=context))
    if module != "rmm.allocators.numba":
        yield Contestant(module, plugin(context=context))
        return
    from rmm import mr

    for name, resource in resources().items():
        prepare = lambda resource=resource: mr.set_current_device_resource(resource)  # noqa: E731
        yield Contestant(f"rmm, {name}", plugin(context=context), prepare)


def measure(context, all_of_them, rounds, pairs):
    own = context.memory_manager
    try:
        ranges = sorted(place for one in all_of_them for place in one.start(context))
        for (start, size), (following, _) in zip(ranges, ranges[1:]):
            if start + size > following:
                raise RuntimeError(f"two live allocations overlap at {following:#x}")
        for one in all_of_them:
            one.turn(context, pairs)
            one.rounds = {label: [] for label in SIZES}
        for _ in range(rounds):
            for one in all_of_them:
                one.turn(context, pairs)
    finally:
        for one in all_of_them:
            one.stop()
        context.memory_manager = own


def versions():
    packages = ["numba-cuda", "numba", "cuda-bindings", "rmm-cu13"]
    known = {dist.metadata["Name"]: dist.version for dist in importlib.metadata.distributions()}
    return ", ".join(
        [
            f"Python {platform.python_version()}",
            *(f"{one} {known[one]}" for one in packages if one in known),
        ]
    )


def report(all_of_them, rounds, pairs):
    width = max(len(one.name) for one in all_of_them)
    print(
        f"ctx.memalloc(size) and drop, µs a pair: median (least-most) of {rounds} rounds of {pairs} pairs, {LIVE} others alive"
    )
    print(f"{cuda.get_current_device().name}, {versions()}")
    print()
    print(" " * width + "".join(f"{label:>22}" for label in SIZES))
    for one in all_of_them:
        cells = [
            f"{one.median_us(label):.2f} ({min(us):.2f}-{max(us):.2f})"
            for label, us in one.rounds.items()
        ]
        print(f"{one.name:<{width}}" + "".join(f"{cell:>22}" for cell in cells))
    print()
    ours, *theirs = all_of_them
    judged = next((one for one in theirs if one.name == f"rmm, {AGAINST}"), theirs[0])
    for one in theirs:
        shares = [ours.median_us(label) / one.median_us(label) for label in SIZES]
        print(f"of {one.name:<{width}}" + "".join(f"{share:>19.2f}" for share in shares))
        if one is judged:
            met = max(shares) <= BAR
    print()
    print(f"bar, at most {BAR:.2f} of {judged.name}: {'met' if met else 'missed'}")
    return met


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rmm", default="rmm.allocators.numba", metavar="MODULE", help="where RMM's plugin is"
    )
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--pairs", type=int, default=2000)
    asked = parser.parse_args()
    context = cuda.current_context()
    try:
        all_of_them = list(contestants(context, asked.rmm))
    except Exception as error:  # noqa: BLE001 - whatever a library raises when it cannot be used here
        print(
            f"bench: {asked.rmm} cannot be used here: {type(error).__name__}: {error}",
            file=sys.stderr,
        )
        return 2
    measure(context, all_of_them, asked.rounds, asked.pairs)
    return 0 if report(all_of_them, asked.rounds, asked.pairs) else 1


if __name__ == "__main__":
    sys.exit(main())
