"""Allocators by place in Python: real resources, and what is refused."""

import pathlib
import sys

import pytest
from harness import Program, Worker
from runfile import findings, verdicts

#: Resources of cuda.core. A module makes none: CUDA does not survive a fork.
CUDA_CORE = """
from cuda.core import DeviceMemoryResource, LegacyPinnedMemoryResource, ManagedMemoryResource


def pinned(_device):
    return LegacyPinnedMemoryResource()


def for_cupy():
    return Functions()


class Functions:
    "malloc() and free() over a resource of cuda.core."

    def __init__(self):
        self.buffers = {}

    def malloc(self, size, device):
        resource = DeviceMemoryResource(device)
        stream = resource_stream(device)
        buffer = resource.allocate(size, stream=stream)
        stream.sync()
        self.buffers[int(buffer.handle)] = buffer
        return buffer.handle

    def free(self, address, device):
        resource_stream(device).sync()
        self.buffers.pop(address).close()


def resource_stream(device):
    from cuda.core import Device

    return Device(device).default_stream
"""


def run(
    allocert: Program, folder: pathlib.Path, subject: str, abi: str, *more: object
) -> tuple[dict[str, str], str]:
    """The verdicts of the cases that ran, and what was printed."""
    out = folder / "run.jsonl"
    arguments = (subject, "--abi", abi, "--python", sys.executable, "--out", out, *more)
    ended = allocert("run", "place", *arguments, path=[folder])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not any(findings(out).values())
    applicable = {
        case: verdict for case, verdict in verdicts(out).items() if verdict != "not_applicable"
    }
    return applicable, ended.stdout


@pytest.mark.parametrize(
    ("subject", "abi", "place", "least"),
    [
        ("cuda.core:DeviceMemoryResource", "cuda-core", "cuda", 40),
        ("subjects:pinned", "cuda-core", "cuda_pinned", 18),
        ("subjects:Functions", "cupy", "cuda", 28),
        ("subjects:for_cupy", "cupy", "cuda", 28),
    ],
)
def test_a_resource_of_cuda_core_conforms(
    allocert: Program, tmp_path: pathlib.Path, subject: str, abi: str, place: str, least: int
) -> None:
    (tmp_path / "subjects.py").write_text(CUDA_CORE)
    ran, printed = run(allocert, tmp_path, subject, abi)
    assert "no violation; " in printed
    assert set(ran.values()) == {"conforms"}
    assert len(ran) >= least
    assert f"place/alloc/large/place:{place}" in ran


def test_the_worker_passes_the_arguments_of_the_abi(worker: Worker, subjects: pathlib.Path) -> None:
    (subjects / "arguments.py").write_text(
        "calls = []\n"
        "class Resource:\n"
        "    def allocate(self, size, stream):\n"
        "        raise MemoryError(f'{size} {stream.__cuda_stream__()}')\n"
        "    def deallocate(self, address, size, stream):\n"
        "        pass\n"
    )
    kind, body = worker.load("rmm(arguments:Resource)", "place")
    assert kind == "loaded", body
    assert body["capabilities"] == ["python", "device_memory", "streams"]
    (outcome,), _ = worker.run(
        {"do": {"alloc": {"place": "cuda", "size": 7, "as": "a"}}}, side="place"
    )
    assert outcome["raised"]["message"] == "7 (0, 0)"
    (outcome,), _ = worker.run(
        {"do": {"alloc": {"place": "cpu", "size": 7, "as": "a"}}}, side="place"
    )
    assert outcome == {
        "declined": {"because": "the subject serves memory of devices alone, of device 0"}
    }


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("'7'", "malloc() is str, not an address"),
        ("-1", "malloc() is -1, which is not an address"),
        ("None", "malloc() is NoneType, not an address"),
        ("0", "address 0 came back for 7 bytes"),
    ],
)
def test_what_is_no_address_is_an_error(
    worker: Worker, subjects: pathlib.Path, text: str, answer: str
) -> None:
    source = f"pair = (lambda size, device: {text}, lambda address, device: None)\n"
    (subjects / "answers.py").write_text(source)
    worker.load("cupy(answers:pair)", "place")
    (outcome,), _ = worker.run(
        {"do": {"alloc": {"place": "cuda", "size": 7, "as": "a"}}}, side="place"
    )
    assert outcome["raised"]["message"] == answer


def test_what_is_no_allocator_is_refused(worker: Worker, subjects: pathlib.Path) -> None:
    (subjects / "nothing.py").write_text("number = 7\ndef make():\n    return 7\n")
    kind, body = worker.load("cupy(nothing:number)", "place")
    assert (kind, body["message"]) == (
        "refused",
        "`nothing.number` has type int: a subject of --abi cupy is a pair of functions, or an"
        " object with `malloc` and `free`, or a callable that makes one",
    )
    worker.load("cupy(nothing:make)", "place")
    (outcome,), _ = worker.run(
        {"do": {"alloc": {"place": "cuda", "size": 7, "as": "a"}}}, side="place"
    )
    assert outcome["raised"]["message"] == (
        "the subject made int, which is not a pair of functions, or an object with `malloc` and"
        " `free`"
    )


def test_an_object_needs_an_abi(allocert: Program) -> None:
    ended = allocert("run", "place", "pool:Pool")
    assert ended.returncode == 2
    assert "say how it is called, by --abi cupy|rmm|cuda-core|nvmath" in ended.stderr
