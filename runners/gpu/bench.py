"""Times the reference pool as a Numba plugin beside RMM's plugin.

Both run in one process on one context; timed are `ctx.memalloc(size)` and the drop of the result.

    python runners/gpu/bench.py                                   # a GPU: RMM with each resource
    LD_LIBRARY_PATH=DIR PYTHONPATH=runners/python/tests/standin \\
        python runners/gpu/bench.py --rmm rmm_standin             # the software driver; DIR has
                                                                  # its libcuda.so.1

The plugins are instances on the same context, without `set_memory_manager()`. In every round each
becomes `ctx.memory_manager` once, so that other load of the machine meets all of them. A figure is
the median over the rounds.

Exit code: 0 if the bar is met, 1 if it is missed, 2 if a plugin cannot be used.
"""

import argparse
import gc
import importlib
import importlib.metadata
import itertools
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from allocert.numba import PoolManager
from numba import cuda

SIZES_BYTES = {"256 B": 256, "4 KiB": 4096, "1 MiB": 1 << 20}
#: Allocations of each plugin that are alive all the time, so that no pool is empty.
LIVE = 100
#: The time of our plugin may be at most this share of the time of RMM's plugin over RMM's pool,
#: the resource that does the same work.
BAR = 1 / 3
COMPARED_RESOURCE = "pool"
POOL_BYTES = 1 << 28


class Candidate:
    """A plugin on a context, and what prepares its turn."""

    def __init__(
        self, name: str, manager: Any, prepare: Callable[[], object] = lambda: None
    ) -> None:
        self.name, self._manager, self._prepare = name, manager, prepare
        self._live: list[Any] = []
        #: Label of a size -> microseconds a pair, one figure a round.
        self.rounds: dict[str, list[float]] = {label: [] for label in SIZES_BYTES}

    def start(self, context: Any) -> list[tuple[int, int]]:
        """Makes the live allocations. Returns their addresses and sizes in bytes."""
        self._install(context)
        self._manager.initialize()
        each = LIVE // len(SIZES_BYTES)
        self._live = [context.memalloc(size) for size in SIZES_BYTES.values() for _ in range(each)]
        return [(int(memory.device_pointer), memory.size) for memory in self._live]

    def run_round(self, context: Any, pairs: int) -> None:
        """Times so many pairs of each size."""
        self._install(context)
        for label, size in SIZES_BYTES.items():
            self.rounds[label].append(pair_us(context.memalloc, size, pairs))

    def forget_rounds(self) -> None:
        """Drops the figures of the warm-up."""
        self.rounds = {label: [] for label in SIZES_BYTES}

    def stop(self) -> None:
        """Drops the live allocations."""
        self._live = []

    def median_us(self, label: str) -> float:
        """Microseconds a pair of this size, over all rounds."""
        return statistics.median(self.rounds[label])

    def _install(self, context: Any) -> None:
        self._prepare()
        context.memory_manager = self._manager


def pair_us(memalloc: Callable[[int], Any], size: int, pairs: int) -> float:
    """Microseconds that an allocation and its drop take together."""
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


def resources() -> dict[str, Any]:
    """RMM's resources by name. Each stays alive as long as its buffers."""
    from rmm import mr

    upstream = mr.CudaMemoryResource()
    return {
        "cuda, RMM's default": upstream,
        COMPARED_RESOURCE: mr.PoolMemoryResource(upstream, initial_pool_size=POOL_BYTES),
        "arena": mr.ArenaMemoryResource(upstream, arena_size=POOL_BYTES),
        "async": mr.CudaAsyncMemoryResource(initial_pool_size=POOL_BYTES),
    }


def candidates(context: Any, module: str) -> Iterator[Candidate]:
    """Our plugin, then RMM's: with each resource, or as the named module has it."""
    plugin = importlib.import_module(module)._numba_memory_manager
    yield Candidate("allocert.numba", PoolManager(context=context))
    if module != "rmm.allocators.numba":
        yield Candidate(module, plugin(context=context))
        return
    from rmm import mr

    for name, resource in resources().items():
        prepare = partial(mr.set_current_device_resource, resource)
        yield Candidate(f"rmm, {name}", plugin(context=context), prepare)


def measure(context: Any, compared: list[Candidate], rounds: int, pairs: int) -> None:
    """Runs all rounds after one warm-up. Raises RuntimeError if live allocations overlap."""
    own = context.memory_manager
    try:
        ranges = sorted(block for candidate in compared for block in candidate.start(context))
        for (start, size), (following, _) in itertools.pairwise(ranges):
            if start + size > following:
                raise RuntimeError(f"two live allocations overlap at {following:#x}")
        for candidate in compared:
            candidate.run_round(context, pairs)
            candidate.forget_rounds()
        for _ in range(rounds):
            for candidate in compared:
                candidate.run_round(context, pairs)
    finally:
        for candidate in compared:
            candidate.stop()
        context.memory_manager = own


def versions() -> str:
    """Python and the packages that are measured."""
    packages = ["numba-cuda", "numba", "cuda-bindings", "rmm-cu13"]
    known = {dist.metadata["Name"]: dist.version for dist in importlib.metadata.distributions()}
    found = [f"{name} {known[name]}" for name in packages if name in known]
    return ", ".join([f"Python {platform.python_version()}", *found])


def report(compared: list[Candidate], rounds: int, pairs: int) -> bool:
    """Prints the figures. Returns whether the bar is met."""
    width = max(len(candidate.name) for candidate in compared)
    print(
        "ctx.memalloc(size) and drop, µs a pair: median (least-most) of"
        f" {rounds} rounds of {pairs} pairs, {LIVE} others alive"
    )
    print(f"{cuda.get_current_device().name}, {versions()}")
    print()
    print(" " * width + "".join(f"{label:>22}" for label in SIZES_BYTES))
    for candidate in compared:
        cells = [
            f"{candidate.median_us(label):.2f} ({min(us):.2f}-{max(us):.2f})"
            for label, us in candidate.rounds.items()
        ]
        print(f"{candidate.name:<{width}}" + "".join(f"{cell:>22}" for cell in cells))
    print()
    ours, *theirs = compared
    for other in theirs:
        print(f"of {other.name:<{width}}" + "".join(f"{one:>19.2f}" for one in shares(ours, other)))
    named = f"rmm, {COMPARED_RESOURCE}"
    bar_setter = next((other for other in theirs if other.name == named), theirs[0])
    met = max(shares(ours, bar_setter)) <= BAR
    print()
    print(f"bar, at most {BAR:.2f} of {bar_setter.name}: {'met' if met else 'missed'}")
    return met


def shares(ours: Candidate, other: Candidate) -> list[float]:
    """Our time over the other's, for each size."""
    return [ours.median_us(label) / other.median_us(label) for label in SIZES_BYTES]


def main() -> int:
    """Runs the comparison. Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--rmm", default="rmm.allocators.numba", metavar="MODULE", help="where RMM's plugin is"
    )
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--pairs", type=int, default=2000)
    arguments = parser.parse_args()
    context = cuda.current_context()
    try:
        compared = list(candidates(context, arguments.rmm))
    except Exception as error:  # noqa: BLE001 - whatever a library raises if it cannot be used here
        reason = f"{type(error).__name__}: {error}"
        print(f"bench: {arguments.rmm} cannot be used here: {reason}", file=sys.stderr)
        return 2
    measure(context, compared, arguments.rounds, arguments.pairs)
    return 0 if report(compared, arguments.rounds, arguments.pairs) else 1


if __name__ == "__main__":
    sys.exit(main())
