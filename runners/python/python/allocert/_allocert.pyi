"""The native part: the reference managers and arrays, without Numba.

Sizes are bytes and addresses integers, with 0 for none. tests/test_stub.py compares this file with
the module.
"""

from typing import Any, final

class DriverError(Exception):
    """The CUDA driver failed, or there is none. ``args`` are (message, CUresult or None)."""

    args: tuple[str, int | None]

class InterfaceError(ValueError):
    """An interface is not valid. ``args`` are (message, [(kind, place, message), ...])."""

    args: tuple[str, list[tuple[str, str, str]]]

@final
class Memory:
    """One page-locked allocation or pinned region."""

    @property
    def device_pointer(self) -> int: ...
    @property
    def host_pointer(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def token(self) -> int: ...

@final
class IpcHandle:
    """What another process needs to open device memory."""

    @property
    def handle(self) -> bytes: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def offset_bytes(self) -> int: ...

@final
class Finalizer:
    """Releases one allocation when it is called, or when its own last reference goes.

    It works on any thread, with or without a current context, at any time. It raises nothing.
    """

    @property
    def alive(self) -> bool: ...
    @property
    def token(self) -> int: ...
    def __call__(self) -> None: ...

@final
class Manager:
    """A reference manager for one CUDA context. ``kind``: ``pool``, ``deferred``, ``host_only``.

    Raises DriverError, ValueError for a wrong argument, NotImplementedError for what the manager
    does not do, and RuntimeError for a call at the wrong time.
    """

    def __new__(cls, kind: str, context: int, device: int) -> Manager: ...
    def initialize(self) -> None: ...
    def memalloc(self, size_bytes: int) -> tuple[int, int, Finalizer]: ...
    def memhostalloc(
        self, size_bytes: int, mapped: bool, portable: bool, write_combined: bool
    ) -> Memory: ...
    def mempin(self, pointer: int, size_bytes: int, mapped: bool) -> Memory: ...
    def finalizer(self, token: int) -> Finalizer: ...
    def get_memory_info(self) -> tuple[int, int]: ...
    def get_ipc_handle(self, token: int, offset_bytes: int) -> IpcHandle: ...
    def reset(self) -> None: ...
    def defer_begin(self) -> None: ...
    def defer_end(self) -> None: ...

@final
class Stream:
    """A CUDA stream: a new one, or the one with this handle, which ``keep`` keeps alive."""

    def __new__(cls, handle: int | None = None, keep: object | None = None) -> Stream: ...
    @property
    def handle(self) -> int: ...
    def synchronize(self) -> None: ...
    def __cuda_stream__(self) -> tuple[int, int]: ...

@final
class DeviceArray:
    """An array in device memory. Strides are bytes."""

    def __new__(cls, shape: list[int], typestr: str, fortran: bool, device: int) -> DeviceArray: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def strides(self) -> list[int]: ...
    @property
    def typestr(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    def mask(self) -> DeviceArray | None: ...
    def take(self, axis: int, first: int, count: int, step: int) -> DeviceArray: ...
    def at(self, axis: int, index: int) -> DeviceArray: ...
    def transpose(self, axes: list[int]) -> DeviceArray: ...
    def broadcast(self, shape: list[int]) -> DeviceArray: ...
    def as_read_only(self) -> DeviceArray: ...
    def masked(self, mask: DeviceArray) -> DeviceArray: ...
    def on(self, stream: Stream) -> DeviceArray: ...
    def fill(self, value: int, stream: Stream) -> None: ...
    def copy_from(self, other: DeviceArray, stream: Stream) -> None: ...
    def write(self, elements: bytes) -> None: ...
    def read(self) -> bytes: ...
    def synchronize(self) -> None: ...
    def export(
        self, version: int, explicit_strides: bool, without_stream: bool, descr: str | None
    ) -> dict[str, Any]: ...

@final
class Imported:
    """An array of another library."""

    def interface(self) -> dict[str, Any]: ...
    def mask(self) -> Imported | None: ...
    def read(self) -> bytes: ...
    def write(self, elements: bytes) -> None: ...
    def fill(self, value: int) -> None: ...

@final
class Importer:
    """Takes arrays of other libraries. ``order``: ``events``, ``host`` or ``enqueue``."""

    def __new__(cls, order: str, ignore_stream: bool, refuse_masks: bool) -> Importer: ...
    def open(self, object: str, keep: object | None) -> Imported:
        """The array that the JSON text describes; ``keep`` keeps its memory and streams alive."""

@final
class RecordingHandler:
    """A handler of NumPy's data allocation that records each call and passes it on.

    ``handler`` is the address of a PyDataMem_Handler, 0 for the functions of libc. It and ``keep``
    stay in use until the process ends.
    """

    def __new__(cls, handler: int = 0, keep: object | None = None) -> RecordingHandler: ...
    @property
    def address(self) -> int: ...
    def capsule(self) -> object: ...
    def fail(self, function: str, nth: int = 1, count: int = 1) -> None:
        """The ``nth`` next and ``count - 1`` following calls of the function answer null."""

    def clear_faults(self) -> None: ...
    def calls(self, function: str) -> int:
        """How often NumPy called the function."""

def set_data_handler(handler: object | None) -> object:
    """Makes a capsule NumPy's handler in this context, None the default. Returns the old one."""

def get_data_handler() -> object:
    """The capsule of NumPy's handler in this context."""

def default_data_handler() -> object:
    """The capsule of NumPy's own handler."""

def watch_python_allocators() -> None:
    """Begins to count calls of Python's allocators by threads without the GIL, for good."""

def take_calls_without_gil() -> int:
    """How many such calls there were since this function was called last."""

def reference_handler() -> object:
    """A new capsule with the handler of ordinary memory."""

def pinned_handler(device: int) -> object:
    """A new capsule with the handler of page-locked memory. Raises DriverError."""

def handler_statistics(capsule: object) -> list[int]:
    """What a handler of allocert did so far, in the order of ``allocert.numpy.Stats``.

    Raises ValueError for a handler of somebody else.
    """

def defects(object: str, lenient: bool) -> list[tuple[str, str, str]]:
    """(kind, place, message) for everything that is wrong with an object described in JSON."""
