"""Builds the extension module with setuptools-rust, and the program with the libraries it loads with one `cargo build`."""

import json
import os
import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools_rust import Binding, RustExtension

ROOT = pathlib.Path(__file__).resolve().parent
#: package -> the file it makes, which goes into allocert/bin.
PRODUCTS = {
    "allocert": "allocert",
    "allocert-libcuda": "liballocert_libcuda.so",
    "allocert-emm-so": "liballocert_emm_reference.so",
}


class BuildWithProgram(build_py):
    """Adds allocert/bin to the package."""

    def run(self):
        super().run()
        folder = ROOT if self.editable_mode else pathlib.Path(self.build_lib)
        package = self.get_package_dir("allocert") if self.editable_mode else "allocert"
        self._programs = []
        self._add(folder / package / "bin")

    def _add(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for made in self._build():
            target = folder / made.name
            shutil.copy2(made, target)
            self._programs.append(str(target))

    def _build(self):
        chosen = [word for package in PRODUCTS for word in ("--package", package)]
        subprocess.run(
            [self._cargo(), "build", "--release", "--locked", *chosen], cwd=ROOT, check=True
        )
        release = self._target() / "release"
        return [release / name for name in PRODUCTS.values()]

    def _target(self):
        asked = [self._cargo(), "metadata", "--format-version", "1", "--no-deps", "--locked"]
        described = subprocess.run(asked, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        return pathlib.Path(json.loads(described)["target_directory"])

    def _cargo(self):
        return os.environ.get("CARGO", "cargo")

    def get_outputs(self, include_bytecode=True):
        return super().get_outputs(include_bytecode) + getattr(self, "_programs", [])


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
