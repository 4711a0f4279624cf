"""A handler as a subject: a capsule, or something that installs one in NumPy."""

from types import ModuleType
from typing import Any

from ..checked_memory import MemoryFault
from ..driver import Driver
from ..refused import Refused
from ..safe_access import read_attribute
from ..safe_text import bounded, type_name
from ..subject import ModuleSubject
from . import capsules, numpy_handlers
from .handler import Handler

_MESSAGE_LIMIT = 500


class HandlerSubject(ModuleSubject):
    """A capsule, a callable that installs one, or a context manager that does so."""

    def __init__(self, specification: str, driver: Driver) -> None:
        super().__init__(specification, driver)
        #: What the worker holds lives on: the arrays of a user hold the capsule too.
        self.capsule: Any = self._capsule(self.cls)
        self.capsule_name = capsules.name_of(self.capsule)
        try:
            self.handler = Handler(capsules.pointer_of(self.capsule))
        except MemoryFault as error:
            message = f"`{self.name}` holds no PyDataMem_Handler: {error}"
            raise Refused("table", message) from None
        if numpy_handlers.are_available():
            self.capabilities.append("numpy")

    def looks_like_subject(self, cls: type) -> bool:
        return cls is capsules.TYPE or _is_context_manager(cls)

    def find(self, module: ModuleType, path: str | None) -> Any:
        found, place = self.walk(module, path)
        if isinstance(found, capsules.TYPE) or _is_context_manager(type(found)) or callable(found):
            return found
        raise Refused(
            "class",
            f"`{place}` has type {type_name(found)}: a handler is a capsule `mem_handler`, or a"
            " callable or context manager that installs one in NumPy",
        )

    def new_manager(self) -> Any:
        """A context manager that installs the handler; None for a subject that gives no second."""
        found: Any = self.cls
        if isinstance(found, capsules.TYPE):
            return None
        if not _is_context_manager(type(found)):
            # A callable may install a handler for good, and then there is nothing to leave.
            before = numpy_handlers.current()
            try:
                found = found()
            except Exception:  # noqa: BLE001 - it may be made for one call
                return None
            finally:
                numpy_handlers.install(before)
        is_used_up = found is self._installed and not isinstance(found, type)
        return found if _is_context_manager(type(found)) and not is_used_up else None

    def _capsule(self, found: Any) -> Any:
        """The capsule that was found, or the one that what was found installs."""
        if isinstance(found, capsules.TYPE):
            return found
        numpy_handlers.needed_by(self.name)
        before = numpy_handlers.current()
        try:
            #: A context manager is never left: its handler may end with it.
            self._installed = _install(found)
            after = numpy_handlers.current()
        except BaseException as error:  # noqa: BLE001 - it is the subject's code
            reason = f"{type_name(error)}: {bounded(error, _MESSAGE_LIMIT)}"
            raise Refused("class", f"`{self.name}` raised {reason}") from None
        finally:
            numpy_handlers.install(before)
        # What a callable returns may be the handler that was there before, as NumPy returns it.
        if after is not before:
            return after
        if not isinstance(self._installed, capsules.TYPE):
            raise Refused(
                "class",
                f"`{self.name}` returned {type_name(self._installed)} and left NumPy's handler as"
                " it was: it must install another one, or return a capsule",
            )
        return self._installed


def _install(found: Any) -> Any:
    """Enters a context manager. Calls a callable, and enters what it returns if that is one."""
    if not _is_context_manager(type(found)):
        found = found()
    if _is_context_manager(type(found)):
        found.__enter__()
    return found


def _is_context_manager(cls: type) -> bool:
    return all(read_attribute(cls, name) is not None for name in ("__enter__", "__exit__"))
