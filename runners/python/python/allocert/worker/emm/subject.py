"""A manager class: what Numba would take for one."""

from numba.cuda.cudadrv.driver import BaseCUDAMemoryManager

from .. import subject
from ..subject import Refused

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


class Subject(subject.Subject):
    #: What NUMBA_CUDA_MEMORY_MANAGER looks for in a module.
    default_attribute = "_numba_memory_manager"
    optional = ("host_memory", "memory_info", "ipc")
    always = ("python", "peer")

    def check(self, cls, seen):
        if issubclass(cls, BaseCUDAMemoryManager):
            return
        missing = [name for name in METHODS if not hasattr(cls, name)]
        if missing:
            raise Refused(
                "class",
                f"`{seen}` is no memory manager: it does not derive from numba.cuda.BaseCUDAMemoryManager and lacks "
                + ", ".join(missing),
            )

    def offers(self, cls):
        return hasattr(cls, "memalloc")
