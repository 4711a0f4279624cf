"""How long NumPy takes for an array with allocert's handler and with its own, in one process.

    .venv/bin/python runners/python/benches/numpy_arrays.py

Prints the time of each and the ratio. The two take turns, and the best round of each counts.
BENCHMARKS.md lists the figures; a ratio above 1 misses its bar.
"""

import time
from collections.abc import Callable
from typing import Any

import allocert.numpy
import numpy as np
from allocert import _allocert

ROUNDS = 15
#: So long a round takes, about.
ROUND_S = 0.02

KIB, MIB = 1 << 10, 1 << 20


def make_empty(size_bytes: int) -> None:
    np.empty(size_bytes, np.uint8)


def make_zeros(size_bytes: int) -> None:
    np.zeros(size_bytes, np.uint8)


def fill_zeros(size_bytes: int) -> None:
    np.zeros(size_bytes, np.uint8)[::4096] = 1


def add(size_bytes: int) -> None:
    """Two temporaries in turn, as in an expression."""
    array = ARRAYS.setdefault(size_bytes, np.ones(size_bytes, np.uint8))
    array + array + array


ARRAYS: dict[int, Any] = {}
CASES: list[tuple[str, Callable[[int], None], int]] = [
    *(("np.empty", make_empty, size) for size in (KIB, 4 * KIB, 16 * KIB, 64 * KIB)),
    *(("np.empty", make_empty, size) for size in (256 * KIB, MIB)),
    ("np.zeros", make_zeros, 64 * MIB),
    ("np.zeros, each page written", fill_zeros, 64 * MIB),
    *(("a + a + a", add, size) for size in (KIB, 64 * KIB, MIB)),
]


def round_s(call: Callable[[int], None], size_bytes: int, times: int) -> float:
    """Seconds of CPU time for one call."""
    start = time.thread_time()
    for _ in range(times):
        call(size_bytes)
    return (time.thread_time() - start) / times


def measured(call: Callable[[int], None], size_bytes: int) -> tuple[float, float]:
    """Seconds of a call with NumPy's own handler, and with allocert's."""
    handlers = [_allocert.default_data_handler(), allocert.numpy.handler()]
    times = max(int(ROUND_S / round_s(call, size_bytes, 3)), 1)
    best = [float("inf")] * len(handlers)
    for _ in range(ROUNDS):
        for index, handler in enumerate(handlers):
            with allocert.numpy.installed(handler):
                best[index] = min(best[index], round_s(call, size_bytes, times))
    return best[0], best[1]


def main() -> None:
    print(f"NumPy {np.__version__}")
    print("| call | KiB | NumPy's own | allocert | ratio |\n|---|---|---|---|---|")
    for name, call, size_bytes in CASES:
        own_s, ours_s = measured(call, size_bytes)
        figures = f"{own_s * 1e9:.0f} ns | {ours_s * 1e9:.0f} ns | {ours_s / own_s:.2f}"
        print(f"| {name} | {size_bytes // KIB} | {figures} |")


if __name__ == "__main__":
    main()
