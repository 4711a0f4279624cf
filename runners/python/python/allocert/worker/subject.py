"""Finding the subject: a class in an importable module. It is looked at, not used. Each interface says what it looks for."""

import difflib
import importlib
import importlib.metadata
import os
import sys
import traceback

from .peek import read
from .text import bounded, class_name, type_name

#: A class or its module may say what the subject offers; otherwise all that the interface has is asked of it.
CAPABILITIES = "allocert_capabilities"


class Refused(Exception):
    """The subject cannot be run: the stage, whose fault and what to do, and the details."""

    def __init__(self, stage, message, detail=""):
        super().__init__(message)
        self.body = {"stage": stage, "message": message, "detail": detail}


class Subject:
    """What an interface's own class sets: the attribute that stands for a subject where none is named, the capabilities that
    a subject may lack, those that it always has."""

    default_attribute = None
    optional = ()
    always = ("python",)

    def __init__(self, spec, driver):
        module_name, _, attribute = spec.partition(":")
        attribute = attribute or self.default_attribute
        self.module = module = import_module(module_name)
        self.initialized_driver = _in_fork(driver.initialized)
        self.cls = self.find(module, attribute)
        self.version = self._version()
        self.file = bounded(read(module, "__file__") or "") or None
        self.name = f"{module_name}:{attribute}" if attribute else module_name
        self.capabilities = self._capabilities()

    def check(self, cls, seen):
        """Refuses a class that cannot be a subject."""

    def offers(self, cls):
        """Whether a class looks like a subject, for `did you mean`."""
        raise NotImplementedError

    def find(self, module, path):
        """The class at a path of a module; Refused where there is none."""
        found, seen = self.walk(module, path)
        if not isinstance(found, type):
            hint = "; give the class, not an instance of it" if self.offers(type(found)) else ""
            raise Refused("class", f"`{seen}` is no class but a {type_name(found)}{hint}")
        self.check(found, seen)
        return found

    def walk(self, module, path):
        """What lies at a path of a module, and the name of that place; the module itself where there is no path."""
        found, seen = module, module.__name__
        for part in path.split(".") if path else ():
            try:
                found = getattr(found, part)
            except AttributeError:
                near = self._near(found, part)
                raise Refused("attribute", f"`{seen}` has no attribute `{part}`{near}") from None
            except BaseException as error:  # noqa: BLE001 - a module's __getattr__ is the subject's code
                raise Refused(
                    "attribute",
                    f"reading `{part}` of `{seen}` raised {type_name(error)}: {bounded(error, 500)}",
                ) from None
            seen = f"{seen}.{part}"
        return found, seen

    def _near(self, owner, name):
        names = [one for one in dir(owner) if not one.startswith("__")]
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        subjects = [
            one
            for one in names
            if isinstance(read(owner, one), type) and self._own(owner, read(owner, one))
        ]
        offered = list(dict.fromkeys(near + subjects))[:5]
        return "; did you mean " + ", ".join(f"`{one}`" for one in offered) + "?" if offered else ""

    def _own(self, owner, cls):
        return self.offers(cls) and read(cls, "__module__") == read(owner, "__name__")

    def _version(self):
        """The version of the module, or of the distribution that it came with."""
        top = self.module.__name__.partition(".")[0]
        version = read(self.module, "__version__")
        version = version if version is not None else read(sys.modules.get(top), "__version__")
        return bounded(version, 100) if version is not None else version_of_module(top)

    def _capabilities(self):
        declared = read(self.cls, CAPABILITIES)
        declared = read(self.module, CAPABILITIES) if declared is None else declared
        if not isinstance(declared, (tuple, list, set, frozenset, type(None))):
            raise Refused(
                "class", f"{CAPABILITIES} is no tuple of words but a {type_name(declared)}"
            )
        offered = self.optional if declared is None else tuple(bounded(one, 50) for one in declared)
        unknown = sorted(set(offered) - set(self.optional))
        if unknown:
            known = ", ".join(self.optional) or "none"
            raise Refused("class", f"{CAPABILITIES} names {', '.join(unknown)}; known are {known}")
        return [*self.always, *[one for one in self.optional if one in offered]]


def import_module(name):
    """The module; Refused where it is no name, not there, or raises."""
    if not name or not all(part.isidentifier() for part in name.split(".")):
        raise Refused(
            "import",
            f"`{name}` is no module name: a Python subject is given as module or module:attribute",
        )
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
    lines = traceback.format_exception(
        type(error), error, _after_import(error.__traceback__), chain=True
    )
    return Refused(
        "import",
        f"importing `{name}` raised {type_name(error)}: {bounded(error, 500)}",
        bounded("".join(lines), 16384),
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


def version_of_module(top):
    """The version of the distribution that a top-level module came with, where it can be told."""
    try:
        distributions = importlib.metadata.packages_distributions().get(top, ())
        return importlib.metadata.version(distributions[0]) if distributions else None
    except Exception:  # noqa: BLE001 - broken metadata of some package; the version is a courtesy
        return None
