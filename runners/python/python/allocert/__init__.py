"""allocert: certifies memory allocators and array exporters against their specification.

``allocert.run("emm", "mylib:Manager")`` runs the cases of a side on a subject and returns the
verdicts and findings as data; ``allocert.read("run.jsonl")`` reads those of a recorded run. The
program is ``allocert`` or ``python -m allocert``. ``pytest --allocert mylib:Manager
--allocert-side emm`` makes a test of each case. ``allocert.numba`` holds the reference managers as
Numba plugins; nothing else in this package needs Numba. ``allocert.cai`` holds an exporter and an
importer of the CUDA Array Interface, and finds what is wrong with any object's interface.
"""

__version__ = "0.1.0"

__all__ = ["AllocertError", "Case", "Exit", "Finding", "Run", "Verdict", "cases", "read", "run"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import cases, read, run
    from .errors import AllocertError
    from .results import Case, Exit, Finding, Run, Verdict

#: Where each name is. A module is imported when one of its names is first used: subjects import
#: this package too.
_MODULES = {
    "AllocertError": "errors",
    "Case": "results",
    "Exit": "results",
    "Finding": "results",
    "Run": "results",
    "Verdict": "results",
    "cases": "api",
    "read": "api",
    "run": "api",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
