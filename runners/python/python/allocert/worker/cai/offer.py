"""Makes `allocert.adapters` importable for subjects, whether or not allocert is installed in this interpreter."""

import importlib.util
import pathlib
import sys
import types

PACKAGE = "allocert.adapters"


def offer():
    """Those that came with this worker win over installed ones: they speak its protocol."""
    folder = _folder()
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    package = importlib.util.module_from_spec(spec)
    _parent().adapters = sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


def _folder():
    """Inside of the worker that the program unpacks, beside the worker in the package."""
    worker = pathlib.Path(__file__).resolve().parent.parent
    inside = worker / "adapters"
    return inside if inside.is_dir() else worker.parent / "adapters"


def _parent():
    try:
        import allocert
    except ImportError:
        allocert = sys.modules["allocert"] = types.ModuleType("allocert")
        allocert.__path__ = []
    return allocert
