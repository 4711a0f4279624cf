"""Trains with the reference allocator of `place` inside PyTorch, CuPy and RMM, on a GPU.

    python runners/gpu/training.py --trace training_trace.txt.gz

Each training runs twice, in processes of their own: with the library's own allocator, and with
allocert's. The losses must be equal to the last bit. `--trace` writes the requests and frees of
PyTorch's training: `a NUMBER BYTES` takes block NUMBER, `f NUMBER` gives it back.

Exit code: 0 if all losses are equal and falling; 1 if not.
"""

import argparse
import ctypes
import gzip
import importlib
import importlib.util
import os
import pathlib
import subprocess
import sys
from typing import Any

from allocert.program import FOLDER

LIBRARY = FOLDER / "liballocert_place.so"
STEPS = 30


def torch_allocator() -> Any:
    """The reference, for `change_current_allocator`."""
    import torch

    names = "allocert_place_torch_malloc", "allocert_place_torch_free"
    return torch.cuda.memory.CUDAPluggableAllocator(str(LIBRARY), *names)


def train_torch(own: bool, trace: str | None) -> list[float]:
    """A small transformer on sequences of changing length."""
    import torch

    if not own:
        torch.cuda.memory.change_current_allocator(torch_allocator())
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(7)
    if trace:
        torch.cuda.memory._record_memory_history(max_entries=1_000_000)
    layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.1, batch_first=True)
    model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 4), torch.nn.Linear(256, 16))
    model.to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for step in range(STEPS):
        length = 32 + 16 * (step * 7 % 13)
        data = torch.randn(16, length, 256, device="cuda")
        target = data.sum(-1, keepdim=True).sign().expand(-1, -1, 16)
        loss = torch.nn.functional.mse_loss(model(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if trace:
        write_trace(torch.cuda.memory._snapshot()["device_traces"][0], trace)
    return losses


def write_trace(events: list[dict[str, Any]], path: str) -> None:
    """Writes the requests that callers made, with numbers instead of addresses."""
    numbers: dict[int, int] = {}
    with gzip.open(path, "wt") as file:
        for count, event in enumerate(events):
            if event["action"] == "alloc":
                numbers[event["addr"]] = count
                file.write(f"a {count} {event['size']}\n")
            elif event["action"] == "free_completed" and event["addr"] in numbers:
                file.write(f"f {numbers.pop(event['addr'])}\n")


def cupy_allocator() -> Any:
    """The reference, for `cupy.cuda.set_allocator`."""
    import cupy

    library = ctypes.CDLL(str(LIBRARY))
    malloc, free = (
        ctypes.cast(getattr(library, f"allocert_place_cupy_{name}"), ctypes.c_void_p).value
        for name in ("malloc", "free")
    )
    return cupy.cuda.CFunctionAllocator(0, malloc, free, library)


def train_cupy(own: bool, _trace: str | None) -> list[float]:
    """A regression by gradient descent, on three streams in turn."""
    import cupy

    if not own:
        cupy.cuda.set_allocator(cupy_allocator().malloc)
    return regression(cupy)


def train_rmm(own: bool, _trace: str | None) -> list[float]:
    """The same, with RMM as CuPy's allocator."""
    import cupy
    import rmm.mr
    from rmm.allocators.cupy import rmm_cupy_allocator

    if not own:
        subjects = pathlib.Path(__file__).resolve().parent / "subjects"
        sys.path.insert(0, str(subjects))
        reference = importlib.import_module("rmm_resources").reference
        rmm.mr.set_current_device_resource(reference())
    cupy.cuda.set_allocator(rmm_cupy_allocator)
    return regression(cupy)


def regression(cupy: Any) -> list[float]:
    """Temporaries of each step are dropped while kernels that use them are queued."""
    random = cupy.random.RandomState(7)
    data = random.standard_normal((20_000, 200), dtype=cupy.float32)
    truth = random.standard_normal(200, dtype=cupy.float32)
    target = (data * truth).sum(axis=1)
    weights = cupy.zeros(200, dtype=cupy.float32)
    cupy.cuda.Device().synchronize()
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
    losses = []
    for step in range(STEPS * 3):
        with streams[step % 3] as stream:
            error = (data * weights).sum(axis=1) - target
            gradient = (data * error[:, None]).mean(axis=0)
            weights = weights - cupy.float32(0.5) * gradient
            losses.append((error * error).mean())
            stream.synchronize()
    return [float(loss) for loss in losses[::3]]


TRAININGS = {"torch": train_torch, "cupy": train_cupy, "rmm": train_rmm}


def in_process(library: str, allocator: str, trace: str | None) -> list[str] | None:
    """The losses that a process of its own prints, exactly; None if it fails."""
    command = [sys.executable, __file__, "--only", library, "--allocator", allocator]
    environment = {**os.environ, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    if trace and library == "torch" and allocator == "own":
        command += ["--trace", trace]
    ended = subprocess.run(command, check=False, env=environment, stdout=subprocess.PIPE, text=True)
    return ended.stdout.split() if ended.returncode == 0 else None


def compare(library: str, trace: str | None) -> bool:
    """Whether both allocators lead to the same losses, which fall."""
    if importlib.util.find_spec(library) is None:
        print(f"{library}: left out, because it is not installed")
        return True
    own, reference = (in_process(library, name, trace) for name in ("own", "allocert"))
    if own is None or reference is None:
        print(f"{library}: the training failed")
        return False
    falls = float.fromhex(own[-1]) < float.fromhex(own[0])
    first, last = (float.fromhex(loss) for loss in (reference[0], reference[-1]))
    verdict = "equal" if own == reference else "different"
    print(f"{library}: {len(own)} losses, {verdict}; from {first:.6g} to {last:.6g}")
    return own == reference and falls


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trace", help="where the requests of PyTorch's training go")
    parser.add_argument("--only", choices=TRAININGS, help="this training alone, in this process")
    parser.add_argument("--allocator", choices=["own", "allocert"], default="allocert")
    given = parser.parse_args()
    if given.only:
        losses = TRAININGS[given.only](given.allocator == "own", given.trace)
        print(*(loss.hex() for loss in losses))
        return 0
    equal = [compare(library, given.trace) for library in TRAININGS]
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())
