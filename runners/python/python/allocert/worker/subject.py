"""Finds a subject, which is a class in an importable module, without making instances of it.

Each interface derives its own class, which defines what counts as a subject.
"""

import difflib
import functools
import importlib
import importlib.metadata
import os
import sys
import traceback
from types import ModuleType, TracebackType
from typing import Any

from .child_signal import children_can_be_waited_for
from .driver import Driver
from .extras import advice
from .refused import Refused
from .safe_access import read_attribute
from .safe_text import bounded, type_name

#: A class or its module may list here which of the optional capabilities it has; without this
#: attribute the worker assumes all.
CAPABILITIES = "allocert_capabilities"

#: Characters of a message and of a traceback that are reported.
_MESSAGE_LIMIT, _TRACEBACK_LIMIT = 500, 16384


class ModuleSubject:
    """A subject given as `module` or `module:attribute`.

    `cls` is the class found there, or what `find` of an interface returns instead.
    """

    #: The attribute that is the subject if the specification names none.
    default_attribute: str | None = None
    #: The capabilities that a subject may lack, and those that every one has.
    optional: tuple[str, ...] = ()
    always: tuple[str, ...] = ("python",)

    def __init__(self, specification: str, driver: Driver) -> None:
        """Imports the module and finds the subject. Raises Refused if that fails."""
        self.module_name, _, named = specification.partition(":")
        attribute = named or self.default_attribute
        self.module = import_module(self.module_name)
        self.initialized_driver = _is_initialized(driver)
        self.cls = self.find(self.module, attribute)
        self.file = bounded(read_attribute(self.module, "__file__") or "") or None
        self.name = f"{self.module_name}:{attribute}" if attribute else self.module_name
        self.capabilities = self._capabilities()

    def check(self, cls: type, place: str) -> None:
        """Raises Refused if the class cannot be a subject. `place` names it in messages."""

    def looks_like_subject(self, cls: type) -> bool:
        """Whether a message may suggest this class with `did you mean`."""
        raise NotImplementedError

    def find(self, module: ModuleType, path: str | None) -> Any:
        """The class at a path of attributes in a module. Raises Refused if there is none."""
        found, place = self.walk(module, path)
        if not isinstance(found, type):
            is_instance = self.looks_like_subject(type(found))
            hint = "; give the class itself" if is_instance else ""
            raise Refused(
                "class", f"`{place}` is an instance of {type_name(found)}, not a class{hint}"
            )
        self.check(found, place)
        return found

    def walk(self, module: ModuleType, path: str | None) -> tuple[Any, str]:
        """The object at a path of attributes (None: the module itself), and its full path."""
        found: Any = module
        place = self.module_name
        for part in path.split(".") if path else ():
            try:
                found = getattr(found, part)
            except AttributeError:
                near = self._did_you_mean(found, part)
                raise Refused("attribute", f"`{place}` has no attribute `{part}`{near}") from None
            except BaseException as error:  # noqa: BLE001 - `__getattr__` is the subject's code
                reason = f"{type_name(error)}: {bounded(error, _MESSAGE_LIMIT)}"
                message = f"reading `{part}` of `{place}` raised {reason}"
                raise Refused("attribute", message) from None
            place = f"{place}.{part}"
        return found, place

    def _did_you_mean(self, owner: object, name: str) -> str:
        names = [other for other in dir(owner) if not other.startswith("__")]
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        subjects = [other for other in names if self._defines_subject(owner, other)]
        suggested = list(dict.fromkeys(near + subjects))[:5]
        if not suggested:
            return ""
        return "; did you mean " + ", ".join(f"`{other}`" for other in suggested) + "?"

    def _defines_subject(self, owner: object, name: str) -> bool:
        """Whether the owner itself, and not a module that it imports, defines such a class."""
        cls = read_attribute(owner, name)
        if not isinstance(cls, type) or not self.looks_like_subject(cls):
            return False
        return bool(read_attribute(cls, "__module__") == read_attribute(owner, "__name__"))

    @functools.cached_property
    def version(self) -> str | None:
        """Found when it is asked for: the search takes 0.3 s, and may be in each child."""
        return self.find_version()

    def find_version(self) -> str | None:
        """The version of the module, or of the distribution that it came with."""
        top = self.module_name.partition(".")[0]
        version = read_attribute(self.module, "__version__")
        if version is None:
            version = read_attribute(sys.modules.get(top), "__version__")
        return bounded(version, 100) if version is not None else version_of_module(top)

    def _capabilities(self) -> list[str]:
        declared = read_attribute(self.cls, CAPABILITIES)
        declared = read_attribute(self.module, CAPABILITIES) if declared is None else declared
        if not isinstance(declared, (tuple, list, set, frozenset, type(None))):
            found = type_name(declared)
            raise Refused("class", f"{CAPABILITIES} must be a tuple of words, but has type {found}")
        listed = self.optional if declared is None else tuple(bounded(one, 50) for one in declared)
        unknown = sorted(set(listed) - set(self.optional))
        if unknown:
            known = ", ".join(self.optional) or "none"
            raise Refused("class", f"{CAPABILITIES} names {', '.join(unknown)}; known are {known}")
        return [*self.always, *[one for one in self.optional if one in listed]]


def import_module(name: str) -> ModuleType:
    """Imports a module. Raises Refused if the name is none, or the import fails."""
    if not name or not all(part.isidentifier() for part in name.split(".")):
        raise Refused(
            "import",
            f"`{name}` is not a module name:"
            " a Python subject is given as module or module:attribute",
        )
    try:
        module: ModuleType | None = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _failed_import(name, error) from None
        raise Refused(
            "import",
            f"no module named `{error.name}` for {sys.executable}{advice(error)}",
            "looked in:\n" + "\n".join(f"  {folder or '.'}" for folder in sys.path),
        ) from None
    except BaseException as error:  # noqa: BLE001 - a module may raise SystemExit
        raise _failed_import(name, error) from None
    if module is None:
        raise Refused("import", f"`{name}` puts None in its own place in sys.modules")
    return module


def _failed_import(name: str, error: BaseException) -> Refused:
    lines = traceback.format_exception(
        type(error), error, _without_importer(error.__traceback__), chain=True
    )
    return Refused(
        "import",
        f"importing `{name}` raised {type_name(error)}: {bounded(error, _MESSAGE_LIMIT)}"
        f"{advice(error)}",
        bounded("".join(lines), _TRACEBACK_LIMIT),
    )


def _without_importer(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the subject's own first frame on."""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != __file__ and "importlib" not in file:
            break
        trace = trace.tb_next
    return trace


def _is_initialized(driver: Driver) -> bool:
    """Whether the subject initialized the driver.

    A fork asks, so that the software driver reads no settings in this process. A genuine driver has
    none, and does not serve a fork.
    """
    if os.environ.get("ALLOCERT_MODE") == "forward":
        return driver.initialized()
    with children_can_be_waited_for():
        pid = os.fork()
        if pid == 0:
            os._exit(driver.initialized())
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def version_of_module(top: str) -> str | None:
    """The version of the distribution that a top-level module came with, if that is known."""
    try:
        distributions = importlib.metadata.packages_distributions().get(top, ())
        return importlib.metadata.version(distributions[0]) if distributions else None
    except Exception:  # noqa: BLE001 - some package has broken metadata; the report does without
        return None
