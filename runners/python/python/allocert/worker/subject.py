"""Finding the subject: a class in an importable module. It is looked at, not used."""

import difflib
import importlib
import importlib.metadata
import os
import sys
import traceback

from .memory import read
from .text import bounded, class_name, type_name

#: What NUMBA_CUDA_MEMORY_MANAGER looks for in a module.
DEFAULT_ATTRIBUTE = "_numba_memory_manager"
#: A class or its module may say what the plugin offers; otherwise all that the interface has is asked of it.
CAPABILITIES = "allocert_capabilities"
OPTIONAL = ("host_memory", "memory_info", "ipc")
METHODS = (
    "memalloc",
    "memhostalloc",
    "mempin",
    "initialize",
    "get_ipc_handle",
    "get_memory_info",
    "reset",
    "defer_cleanup",
    "interface_version",
)


class Refused(Exception):
    """The subject cannot be run: the stage, whose fault and what to do, and the details."""

    def __init__(self, stage, message, detail=""):
        super().__init__(message)
        self.body = {"stage": stage, "message": message, "detail": detail}


class Subject:
    def __init__(self, spec, driver):
        module_name, _, attribute = spec.partition(":")
        self.module = module = _import(module_name)
        self.initialized_driver = _in_fork(driver.initialized)
        self.cls = _class(module, attribute or DEFAULT_ATTRIBUTE)
        self.version = _version(module)
        self.file = bounded(read(module, "__file__") or "") or None
        self.name = f"{module_name}:{attribute or class_name(self.cls)}"
        self.capabilities = _capabilities(module, self.cls)


def _import(name):
    if not name or not all(part.isidentifier() for part in name.split(".")):
        raise Refused("import", f"`{name}` is no module name: a Python subject is given as module or module:attribute")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _failed_import(name, error) from None
        raise Refused(
            "import",
            f"no module named `{error.name}` for {sys.executable}",
            "looked in:\n" + "\n".join(f"  {folder or '.'}" for folder in sys.path),
        ) from None
    except BaseException as error:  # noqa: BLE001 - a module may raise SystemExit
        raise _failed_import(name, error) from None


def _failed_import(name, error):
    lines = traceback.format_exception(type(error), error, _after_import(error.__traceback__), chain=True)
    return Refused(
        "import", f"importing `{name}` raised {type_name(error)}: {bounded(error, 500)}", bounded("".join(lines), 16384)
    )


def _after_import(tb):
    """The traceback from the subject's own first frame on."""
    while tb is not None and (
        tb.tb_frame.f_code.co_filename == __file__ or "importlib" in tb.tb_frame.f_code.co_filename
    ):
        tb = tb.tb_next
    return tb


def _in_fork(question):
    """Asks in a copy of this process, so that no call of ours reaches the driver in this one."""
    pid = os.fork()
    if pid == 0:
        os._exit(bool(question()))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def _class(module, path):
    found, seen = module, module.__name__
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Refused("attribute", f"`{seen}` has no attribute `{part}`{_near(found, part)}") from None
        except BaseException as error:  # noqa: BLE001 - a module's __getattr__ is the subject's code
            raise Refused(
                "attribute", f"reading `{part}` of `{seen}` raised {type_name(error)}: {bounded(error, 500)}"
            ) from None
        seen = f"{seen}.{part}"
    if not isinstance(found, type):
        hint = "; give the class, not an instance of it" if _offers(type(found)) else ""
        raise Refused("class", f"`{seen}` is no class but a {type_name(found)}{hint}")
    _check(found, seen)
    return found


def _check(cls, seen):
    from numba.cuda.cudadrv.driver import BaseCUDAMemoryManager

    if issubclass(cls, BaseCUDAMemoryManager):
        return
    missing = [name for name in METHODS if not hasattr(cls, name)]
    if missing:
        raise Refused(
            "class",
            f"`{seen}` is no memory manager: it does not derive from numba.cuda.BaseCUDAMemoryManager and lacks "
            + ", ".join(missing),
        )


def _offers(cls):
    return hasattr(cls, "memalloc")


def _near(owner, name):
    names = [one for one in dir(owner) if not one.startswith("__")]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    managers = [one for one in names if isinstance(read(owner, one), type) and _own_manager(owner, read(owner, one))]
    offered = list(dict.fromkeys(near + managers))[:5]
    return "; did you mean " + ", ".join(f"`{one}`" for one in offered) + "?" if offered else ""


def _own_manager(owner, cls):
    return _offers(cls) and read(cls, "__module__") == read(owner, "__name__")


def _version(module):
    version = read(module, "__version__")
    top = sys.modules.get(module.__name__.partition(".")[0])
    version = version if version is not None else read(top, "__version__")
    if version is not None:
        return bounded(version, 100)
    try:
        distributions = importlib.metadata.packages_distributions().get(module.__name__.partition(".")[0], ())
        return importlib.metadata.version(distributions[0]) if distributions else None
    except Exception:  # noqa: BLE001 - broken metadata of some package; the version is a courtesy
        return None


def _capabilities(module, cls):
    declared = read(cls, CAPABILITIES)
    declared = read(module, CAPABILITIES) if declared is None else declared
    if not isinstance(declared, (tuple, list, set, frozenset, type(None))):
        raise Refused("class", f"{CAPABILITIES} is no tuple of words but a {type_name(declared)}")
    offered = OPTIONAL if declared is None else tuple(bounded(one, 50) for one in declared)
    unknown = sorted(set(offered) - set(OPTIONAL))
    if unknown:
        raise Refused(
            "class", f"{CAPABILITIES} names {', '.join(unknown)}; known are {', '.join(OPTIONAL)}"
        )
    return ["python", *[one for one in OPTIONAL if one in offered], "peer"]
