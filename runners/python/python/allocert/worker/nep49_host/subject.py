"""A host of handlers as a subject: NumPy, or an object with its API."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from allocert import _allocert

from ..refused import Refused
from ..safe_access import read_attribute
from ..subject import ModuleSubject

_NEEDED = ("empty", "zeros", "array", "dtype", "frombuffer", "ndarray")


class HandlerHostSubject(ModuleSubject):
    """Anything with these attributes. `cls` is the host itself.

    It may define PyDataMem_SetHandler(capsule or None) and PyDataMem_GetHandler(). Without them the
    worker calls the C functions of NumPy.
    """

    always = ("python", "host_memory")

    def find(self, module: ModuleType, path: str | None) -> Any:
        found, place = self.walk(module, path)
        missing = [name for name in _NEEDED if read_attribute(found, name) is None]
        if missing:
            raise Refused("class", f"`{place}` is no NumPy: it lacks {', '.join(missing)}")
        # unique() imports this module at its first call, and the module keeps two arrays.
        read_attribute(found, "ma")
        return found

    def looks_like_subject(self, cls: type) -> bool:
        return hasattr(cls, _NEEDED[0])

    def set_handler(self, capsule: Any | None) -> Any:
        """Installs the handler of a capsule; None is the default one. Returns the one before."""
        own: Callable[[Any], Any] | None = read_attribute(self.cls, "PyDataMem_SetHandler")
        return (own or _allocert.set_data_handler)(capsule)

    def get_handler(self) -> Any:
        """The capsule of the installed handler."""
        own: Callable[[], Any] | None = read_attribute(self.cls, "PyDataMem_GetHandler")
        return (own or _allocert.get_data_handler)()

    @property
    def private(self) -> Any:
        """The module with the functions that are not in NumPy's main namespace."""
        core = read_attribute(self.cls, "_core")
        return core if hasattr(core, "multiarray") else self.cls.core
