"""Builds the extension module with setuptools-rust, and the program with one `cargo build`.

ALLOCERT_BUILT names a folder in which cargo has put both already. Then nothing is compiled.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools_rust import Binding, RustExtension

ROOT = pathlib.Path(__file__).resolve().parent
BUILT = os.environ.get("ALLOCERT_BUILT")
MODULE = "allocert._allocert"
#: Whether the extension module is for all later versions of Python. The free-threaded builds have
#: no stable ABI.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")
#: Cargo package -> the file that it makes, which goes into allocert/bin.
PRODUCTS = {
    "allocert": "allocert",
    "allocert-libcuda": "liballocert_libcuda.so",
    "allocert-emm-so": "liballocert_emm_reference.so",
    "allocert-place": "liballocert_place.so",
}
#: Folder of the package -> what it gets of the repository, where users have only the package.
FILES = {
    ".": "runners/python/ADAPTERS.md",
    "include": "reference/abi/include/*.h",
    "expectations": "fixtures/expectations/*.yaml",
}


class BuildWithProgram(build_py):
    """Adds to the package what the program consists of and loads (allocert/bin), and FILES."""

    def run(self) -> None:
        super().run()
        self._added: list[str] = []
        if self.editable_mode:
            self._add(ROOT / self.get_package_dir("allocert") / "bin", _products())
            return
        package = pathlib.Path(self.build_lib) / "allocert"
        self._add(package / "bin", _products())
        for folder, files in FILES.items():
            self._add(package / folder, sorted(ROOT.glob(files)))

    def _add(self, folder: pathlib.Path, files: list[pathlib.Path]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            target = folder / file.name
            shutil.copy2(file, target)
            self._added.append(str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        outputs: list[str] = super().get_outputs(include_bytecode)
        return outputs + getattr(self, "_added", [])


class CopyBuiltModule(build_ext):
    """Copies the extension module from the folder that ALLOCERT_BUILT names."""

    def build_extension(self, ext: Extension) -> None:
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(pathlib.Path(BUILT or "") / "lib_allocert.so", target)


def _products() -> list[pathlib.Path]:
    """The paths of the products, which are built first where that is not done yet."""
    folder = pathlib.Path(BUILT) if BUILT else _build()
    return [folder / name for name in PRODUCTS.values()]


def _build() -> pathlib.Path:
    """Builds the products and gives their folder."""
    packages = [word for package in PRODUCTS for word in ("--package", package)]
    command = [_cargo(), "build", "--release", "--locked", *packages]
    subprocess.run(command, cwd=ROOT, check=True)
    return _target_folder() / "release"


def _target_folder() -> pathlib.Path:
    command = [_cargo(), "metadata", "--format-version", "1", "--no-deps", "--locked"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    return pathlib.Path(json.loads(output)["target_directory"])


def _cargo() -> str:
    return os.environ.get("CARGO", "cargo")


def _module() -> dict[str, Any]:
    """How the extension module is made."""
    if BUILT:
        return {
            "cmdclass": {"build_py": BuildWithProgram, "build_ext": CopyBuiltModule},
            "ext_modules": [Extension(MODULE, sources=[], py_limited_api=LIMITED)],
        }
    module = RustExtension(
        MODULE,
        path="runners/python/Cargo.toml",
        binding=Binding.PyO3,
        py_limited_api=LIMITED,
        debug=False,
        args=["--locked"],
    )
    return {"cmdclass": {"build_py": BuildWithProgram}, "rust_extensions": [module]}


setup(
    **_module(),
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if LIMITED else {},
    zip_safe=False,
)
