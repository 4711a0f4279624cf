"""Builds the extension module with setuptools-rust, and the program with one `cargo build`.

SETUPTOOLS_RUST_CARGO_PROFILE, a variable of setuptools-rust, names another profile than release for
both.
"""

import json
import os
import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools_rust import Binding, RustExtension

ROOT = pathlib.Path(__file__).resolve().parent
#: Cargo package -> the file that it makes, which goes into allocert/bin.
PRODUCTS = {
    "allocert": "allocert",
    "allocert-libcuda": "liballocert_libcuda.so",
    "allocert-emm-so": "liballocert_emm_reference.so",
}


class BuildWithProgram(build_py):
    """Adds allocert/bin, with the program and the libraries that it loads, to the package."""

    def run(self) -> None:
        super().run()
        folder = ROOT if self.editable_mode else pathlib.Path(self.build_lib)
        package = self.get_package_dir("allocert") if self.editable_mode else "allocert"
        self._programs: list[str] = []
        self._add(folder / package / "bin")

    def _add(self, folder: pathlib.Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for product in _build():
            target = folder / product.name
            shutil.copy2(product, target)
            self._programs.append(str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        outputs: list[str] = super().get_outputs(include_bytecode)
        return outputs + getattr(self, "_programs", [])


def _build() -> list[pathlib.Path]:
    """Builds the products and gives their paths."""
    profile = os.environ.get("SETUPTOOLS_RUST_CARGO_PROFILE", "release")
    packages = [word for package in PRODUCTS for word in ("--package", package)]
    command = [_cargo(), "build", "--profile", profile, "--locked", *packages]
    subprocess.run(command, cwd=ROOT, check=True)
    folder = _target_folder() / ("debug" if profile == "dev" else profile)
    return [folder / name for name in PRODUCTS.values()]


def _target_folder() -> pathlib.Path:
    command = [_cargo(), "metadata", "--format-version", "1", "--no-deps", "--locked"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    return pathlib.Path(json.loads(output)["target_directory"])


def _cargo() -> str:
    return os.environ.get("CARGO", "cargo")


setup(
    cmdclass={"build_py": BuildWithProgram},
    rust_extensions=[
        RustExtension(
            "allocert._allocert",
            path="runners/python/Cargo.toml",
            binding=Binding.PyO3,
            py_limited_api=True,
            debug=False,
            args=["--locked"],
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
    zip_safe=False,
)
