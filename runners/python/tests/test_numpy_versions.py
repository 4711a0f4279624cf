"""The handlers of allocert under older NumPys, and these NumPys as hosts of handlers."""

import pathlib
import sys

import pytest
from harness import ROOT, Program
from runfile import lines

#: The NumPys beside the pinned one: the folder below .venv, and the version.
VERSIONS = pytest.mark.parametrize(
    ("numpy_beside", "version"),
    [("numpy-1.26", "1.26.4"), ("numpy-2.0", "2.0.2"), ("numpy-2.3", "2.3.5")],
    indirect=["numpy_beside"],
)
EXPECTATIONS = ROOT / "fixtures/expectations"


def certify(
    allocert: Program, numpy: pathlib.Path, out: pathlib.Path, *arguments: object
) -> tuple[str, str]:
    """Runs the suite under this NumPy. Returns what it printed and the version that it saw."""
    options = ["--python", sys.executable, "--out", out]
    ended = allocert("run", *arguments, *options, path=[numpy])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (header,) = lines(out, "header")
    return ended.stdout, header["subject"]["details"]["host"]["numpy"]


@VERSIONS
def test_the_reference_handler_conforms(
    allocert: Program, numpy_beside: pathlib.Path, version: str, tmp_path: pathlib.Path
) -> None:
    subject = ["nep49", "allocert.numpy:handler"]
    printed, seen = certify(allocert, numpy_beside, tmp_path / "run.jsonl", *subject)
    assert seen == version
    assert "no violation; " in printed and "not-observed" not in printed


@VERSIONS
def test_numpy_is_as_expected(
    allocert: Program, numpy_beside: pathlib.Path, version: str, tmp_path: pathlib.Path
) -> None:
    expected = EXPECTATIONS / f"numpy-{version}-nep49-host.yaml"
    subject = ["nep49-host", "numpy", "--faults=every", "--expect", expected]
    _, seen = certify(allocert, numpy_beside, tmp_path / "run.jsonl", *subject)
    assert seen == version
