"""NVIDIA Warp as producer and consumer.

Its wheel has 136 MB, so `cargo xtask test` does not install it.
"""

import importlib.metadata
import pathlib
import sys

import pytest
from harness import ROOT, Program
from runfile import findings

EXPECTED = {
    side: ROOT / f"fixtures/expectations/warp-1.19.0-cai-{side}.yaml"
    for side in ("producer", "consumer")
}


@pytest.fixture(scope="module", autouse=True)
def version() -> str:
    try:
        return importlib.metadata.version("warp-lang")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("warp-lang is not installed: pip install warp-lang==1.19.0 beside numba-cuda")


def test_the_expectations_say_which_version_they_are_of(version: str) -> None:
    assert all(f"warp-lang {version}," in path.read_text() for path in EXPECTED.values())


@pytest.mark.parametrize(
    ("side", "subject", "least"),
    [
        ("producer", "Producer", {"CAI-RACE-01"}),
        ("consumer", "Sized", {"CAI-CONSUME-51", "CAI-CONSUME-53"}),
    ],
)
def test_warp_is_as_expected(
    allocert: Program, tmp_path: pathlib.Path, side: str, subject: str, least: set[str]
) -> None:
    out = tmp_path / "run.jsonl"
    arguments = (
        f"allocert.adapters.warp:{subject}",
        "--python",
        sys.executable,
        "--timeout",
        "60",
        "--out",
        out,
    )
    ended = allocert("run", f"cai-{side}", *arguments, "--expect", EXPECTED[side])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # A run that checks little is as expected too, so the known violations must be there.
    found = findings(out)
    assert {one["requirement"] for ones in found.values() for one in ones} >= least
    if side == "consumer":
        assert any("order/pending-write-launch/" in case for case in found)
