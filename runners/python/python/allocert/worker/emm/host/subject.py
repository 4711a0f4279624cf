"""A host: a module, or an object of one, that offers what numba.cuda offers."""

from ... import subject
from ...peek import read
from ...subject import Refused, version_of_module

#: What the worker calls or derives from before any step could say that it is missing.
NEEDED = (
    "set_memory_manager",
    "current_context",
    "device_array",
    "close",
    "BaseCUDAMemoryManager",
    "MemoryPointer",
)


class Host(subject.Subject):
    always = ("python", "host_memory", "memory_info", "ipc", "peer")

    def find(self, module, attribute):
        found, seen = self.walk(module, attribute)
        missing = [name for name in NEEDED if read(found, name) is None]
        if missing:
            raise Refused(
                "class", f"`{seen}` is no host of EMM plugins: it lacks {', '.join(missing)}"
            )
        return found

    def _version(self):
        top = self.module.__name__.partition(".")[0]
        return version_of_module("numba_cuda" if top == "numba" else top)

    def offers(self, cls):
        return hasattr(cls, NEEDED[0])
