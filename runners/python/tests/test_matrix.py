"""The matrix of libraries, with numba-cuda as a consumer of the reference's arrays."""

import pathlib
import sys

import pytest
from harness import Program

PAIR = "allocert.adapters.reference+allocert.adapters.numba_cuda:Consumer"
LISTED = f"""subject: matrix
seen_on: numba-cuda 0.30.4
expected:
  - requirement: CAI-CONSUME-53
    cases: ["cai-consumer/pair/next-after-write/{PAIR}"]
    reason: numba-cuda works on the legacy stream, and the exported stream does not wait for it
"""
FREE = f"""  - requirement: CAI-CONSUME-51
    cases: ["cai-consumer/pair/plain/{PAIR}"]
    reason: nothing violates it
"""


@pytest.mark.parametrize(
    ("listed", "cases", "code", "words"),
    [
        (LISTED, "next-after-write", 0, "expected-violation"),
        (
            LISTED,
            "next-after-*",
            1,
            f"MUST CAI-CONSUME-53 in cai-consumer/pair/next-after-launch/{PAIR}",
        ),
        (LISTED + FREE, "{plain,next-after-write}", 1, "the entry can go"),
        (LISTED.replace(PAIR, "none+none"), "plain", 2, "next-after-write/none+none"),
        (LISTED.replace("requirement: CAI-CONSUME-53", "requirement: CAI-X"), "plain", 2, "CAI-X"),
    ],
    ids=["listed", "not-listed", "conforms", "no-such-pair", "no-such-requirement"],
)
def test_a_matrix_is_compared_with_what_is_known(
    allocert: Program, tmp_path: pathlib.Path, listed: str, cases: str, code: int, words: str
) -> None:
    known, page = tmp_path / "known.yaml", tmp_path / "matrix.md"
    known.write_text(listed)
    adapters = ("--producers", "reference", "--consumers", "allocert.adapters.numba_cuda:Consumer")
    files = ("--expect", known, "--markdown", page)
    ended = allocert(
        "matrix", "cai", *adapters, *files, "--filter", cases, "--python", sys.executable
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert words in ended.stdout + ended.stderr
    # A file that cannot be read is refused before the pairs run.
    assert page.exists() == ("CAI-X" not in listed)


def test_a_matrix_without_what_is_known_passes(allocert: Program) -> None:
    adapters = ("--producers", "reference", "--consumers", "allocert.adapters.numba_cuda:Consumer")
    ended = allocert(
        "matrix", "cai", *adapters, "--filter", "next-after-write", "--python", sys.executable
    )
    assert (ended.returncode, "races" in ended.stdout) == (0, True), ended.stdout + ended.stderr
