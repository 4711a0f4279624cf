"""The reference managers, without Numba. Sizes are bytes, addresses integers (0: none)."""

class DriverError(Exception):
    """The CUDA driver failed, or there is none: ``args`` are (message, CUresult or None)."""

    args: tuple[str, int | None]

class Memory:
    """One page-locked allocation or pinned region."""

    device_pointer: int
    host_pointer: int
    size_bytes: int
    token: int

class IpcHandle:
    """What another process needs to open device memory."""

    handle: bytes
    size_bytes: int
    offset_bytes: int

class Finalizer:
    """Releases one allocation when it is called, and otherwise when its own last reference goes: on any thread, with or without
    a context, at any time. Raises nothing."""

    alive: bool
    token: int

    def __call__(self) -> None: ...

class Manager:
    """A reference manager for one CUDA context. Raises DriverError, ValueError for what the caller did wrong,
    NotImplementedError for what it does not do, RuntimeError for a call at the wrong time."""

    def __new__(cls, kind: str, context: int, device: int) -> Manager: ...
    def initialize(self) -> None: ...
    def memalloc(self, size_bytes: int) -> tuple[int, int, Finalizer]: ...
    def memhostalloc(self, size_bytes: int, mapped: bool, portable: bool, write_combined: bool) -> Memory: ...
    def mempin(self, pointer: int, size_bytes: int, mapped: bool) -> Memory: ...
    def finalizer(self, token: int) -> Finalizer: ...
    def get_memory_info(self) -> tuple[int, int]: ...
    def get_ipc_handle(self, token: int, offset_bytes: int) -> IpcHandle: ...
    def reset(self) -> None: ...
    def defer_begin(self) -> None: ...
    def defer_end(self) -> None: ...
