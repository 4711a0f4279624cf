"""A host as a subject: a module, or an object in one, with the API of numba.cuda."""

from types import ModuleType
from typing import Any

from ..refused import Refused
from ..safe_access import read_attribute
from ..subject import ModuleSubject, version_of_module

#: The worker uses these before the first step, so no step could report that they are missing.
_NEEDED = (
    "set_memory_manager",
    "current_context",
    "device_array",
    "close",
    "BaseCUDAMemoryManager",
    "MemoryPointer",
)


class HostSubject(ModuleSubject):
    """Anything with these attributes; it need not be a class."""

    always = ("python", "host_memory", "memory_info", "ipc", "peer")

    def find(self, module: ModuleType, path: str | None) -> Any:
        found, place = self.walk(module, path)
        missing = [name for name in _NEEDED if read_attribute(found, name) is None]
        if missing:
            raise Refused(
                "class", f"`{place}` is not a host of EMM plugins: it lacks {', '.join(missing)}"
            )
        return found

    def find_version(self) -> str | None:
        top = self.module_name.partition(".")[0]
        return version_of_module("numba_cuda" if top == "numba" else top)

    def looks_like_subject(self, cls: type) -> bool:
        return hasattr(cls, _NEEDED[0])
