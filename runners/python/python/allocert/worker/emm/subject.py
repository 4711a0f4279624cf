"""A memory manager as a subject: a class that Numba would take for one."""

from numba.cuda.cudadrv.driver import BaseCUDAMemoryManager, HostOnlyCUDAMemoryManager

from ..refused import Refused
from ..safe_access import read_attribute
from ..subject import ModuleSubject

#: What the interface asks of a class that does not derive from Numba's.
_METHODS = (
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


class ManagerSubject(ModuleSubject):
    """A class that derives from BaseCUDAMemoryManager, or has all of its methods."""

    #: The attribute that Numba reads from the module named in NUMBA_CUDA_MEMORY_MANAGER.
    default_attribute = "_numba_memory_manager"
    optional = ("host_memory", "device_memory", "memory_info", "ipc")
    always = ("python", "peer")

    def _capabilities(self) -> list[str]:
        declared = super()._capabilities()
        if "host_memory" not in declared:
            return declared
        return [*declared, "deferred_host_memory" if _inherits(self.cls) else "own_host_memory"]

    def check(self, cls: type, place: str) -> None:
        if issubclass(cls, BaseCUDAMemoryManager):
            return
        missing = [name for name in _METHODS if not hasattr(cls, name)]
        if missing:
            raise Refused(
                "class",
                f"`{place}` is not a memory manager: it does not derive from"
                f" numba.cuda.BaseCUDAMemoryManager and lacks {', '.join(missing)}",
            )

    def looks_like_subject(self, cls: type) -> bool:
        return hasattr(cls, "memalloc")


def _inherits(cls: type) -> bool:
    """Whether the host's own class allocates and pins host memory for this one."""
    return all(
        read_attribute(cls, name) is read_attribute(HostOnlyCUDAMemoryManager, name)
        for name in ("memhostalloc", "mempin")
    )
