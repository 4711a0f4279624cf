"""Makes `allocert.adapters` importable, whether or not this interpreter has allocert installed."""

import importlib.util
import pathlib
import sys
import types

PACKAGE = "allocert.adapters"


def make_adapters_importable() -> None:
    """Imports the adapters that came with this worker, instead of installed ones.

    Both are written for one version of the worker.
    """
    folder = _folder()
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} holds no Python package")
    package = importlib.util.module_from_spec(spec)
    _parent_package().__dict__["adapters"] = sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


def _folder() -> pathlib.Path:
    """Inside of the worker if the program unpacked it, beside the worker in the package."""
    worker = pathlib.Path(__file__).resolve().parent.parent
    inside = worker / "adapters"
    return inside if inside.is_dir() else worker.parent / "adapters"


def _parent_package() -> types.ModuleType:
    """The package `allocert`, or an empty one of that name."""
    try:
        import allocert
    except ImportError:
        empty = types.ModuleType("allocert")
        empty.__path__ = []
        sys.modules["allocert"] = empty
        return empty
    return allocert
