"""The plugin that a host under test is given.

It conforms to NBEP 7 and to the Numba documentation, and records every call.
"""

import contextlib
import ctypes
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from ..driver import Driver
from ..emm_shared import facts
from ..operations import Facts
from ..safe_access import read_attribute
from ..safe_text import bounded, type_name
from . import driver_memory
from .call_log import CallLog
from .driver_memory import MAPPED, PORTABLE, WRITE_COMBINED, Block

if TYPE_CHECKING:
    # Behind the classes of this module stands the host's own base class, of unknown type.
    _Base: TypeAlias = Any
else:
    _Base = object

#: The plugin reports these sizes. A host that asks the driver instead gets other values.
_FREE_BYTES, _TOTAL_BYTES = 12345, 67890
_POINTER_TYPES = {"integer": int, "c_void_p": ctypes.c_void_p, "c_uint64": ctypes.c_uint64}


class PluginShape:
    """The options of the plugin that a case registers."""

    def __init__(self, described: dict[str, Any]) -> None:
        """`described` is the field `plugin` of the operation `register`."""
        self.base = described.get("base", "full")
        #: Methods that it leaves to the host's base class.
        self.without = frozenset(described.get("without", ()))
        self.pointer = _POINTER_TYPES[described.get("pointer", "integer")]
        #: It returns mapped memory as a MappedMemory, without the wrapper of numba-cuda.
        self.bare = described.get("bare", False)
        #: It leaves IPC handles to the mixin of the host.
        self.mixin = described.get("mixin", False)


def make_plugin_class(
    host: Any,
    shape: PluginShape,
    call_log: CallLog,
    driver: Driver,
    registration: int,
    version: Any,
) -> type:
    """A plugin class on the host's own base class.

    `registration` tells the classes of a case apart, `version` is its interface version.
    """
    if shape.base == "host_only":
        bases = (_RecordingPlugin, host.HostOnlyCUDAMemoryManager)
    else:
        bases = (_RecordingPluginWithHostMemory, host.BaseCUDAMemoryManager)
    members = {name: getattr(bases[-1], name) for name in shape.without}
    if shape.mixin:
        members["get_ipc_handle"] = host.GetIpcHandleMixin.get_ipc_handle
    members.update(_host=host, _shape=shape, _call_log=call_log, _driver=driver)
    members.update(_version=version, registration=registration)
    made: type = type(bases[-1])("RecordingPlugin", bases, members)
    return made


class _RecordingPlugin(_Base):
    """All methods but those for host memory."""

    _host: Any
    _shape: PluginShape
    _call_log: CallLog
    _driver: Driver
    _version: Any
    registration: int
    context: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        context = kwargs.get("context")
        #: Number of the call that made a block -> the block, and the object that keeps it alive.
        self._blocks: dict[int, Block] = {}
        self._kept: dict[int, Any] = {}
        self._initialized = False
        self._identity = {
            "manager": self._call_log.next_manager(),
            "registration": self.registration,
            "device": _device(context),
        }
        with self._call_log.call("create", context_is_none=context is None, **self._identity):
            pass
        super().__init__(*args, **kwargs)

    @property
    def interface_version(self) -> Any:
        with self._recorded("interface_version") as call:
            call["version"] = facts.plain(self._version)
            return self._version

    def initialize(self) -> None:
        with self._recorded("initialize"):
            self._initialized = True
        super().initialize()

    def memalloc(self, size: Any) -> Any:
        with self._recorded("memalloc", size_bytes=facts.plain(size)) as call:
            block = driver_memory.allocate(self._driver, size)
            call["pointer"] = block.address
            pointer = self._shape.pointer(block.address)
            finalizer = self._finalizer(call, block)
            return self._host.MemoryPointer(self._proxy(), pointer, size, finalizer=finalizer)

    def get_memory_info(self) -> Any:
        with self._recorded("get_memory_info") as call:
            call.update(free_bytes=_FREE_BYTES, total_bytes=_TOTAL_BYTES)
            return self._host.MemoryInfo(free=_FREE_BYTES, total=_TOTAL_BYTES)

    def get_ipc_handle(self, memory_pointer: Any) -> Any:
        device_pointer = read_attribute(memory_pointer, "device_ctypes_pointer")
        pointer: Any = facts.address(read_attribute(device_pointer, "value"))
        size = read_attribute(memory_pointer, "size")
        asked = {"pointer": pointer, "size_bytes": facts.plain(size)}
        with self._recorded("get_ipc_handle", **asked) as call:
            start = driver_memory.base(self._driver, pointer)
            raw = driver_memory.ipc_handle(self._driver, start)
            call["handle"] = raw.hex()
            identity = self.context.device.get_device_identity()
            handle = facts.driver_handle(raw)
            return self._host.IpcHandle(
                memory_pointer, handle, size, identity, offset=pointer - start
            )

    def reset(self) -> None:
        # The host may reset with any context current, or none; frees need the right one.
        with self._recorded("reset"), self._driver.current_kept():
            self._driver.call("cuCtxSetCurrent", ctypes.c_void_p(int(self.context.handle)))
            for block in list(self._blocks.values()):
                block.release()
            self._blocks.clear()
        super().reset()

    def defer_cleanup(self) -> "_RecordingScope":
        with self._recorded("defer_cleanup"):
            pass
        return _RecordingScope(self, super().defer_cleanup())

    @contextlib.contextmanager
    def _recorded(self, method: str, **arguments: Any) -> Iterator[Facts]:
        """Records a call of the host, with what is true of this manager at that moment.

        The work of the host's base class is the host's and stays outside.
        """
        identity, arguments = self._identity, {"initialized": self._initialized, **arguments}
        with self._call_log.call(method, **identity, **arguments) as call:
            if self.context is not None:
                own, current = int(self.context.handle), driver_memory.current_context(self._driver)
                call["own_context_current"] = current == own
            yield call

    def _proxy(self) -> Any:
        return weakref.proxy(self.context)

    def _finalizer(self, call: Facts, block: Block) -> Callable[[], None]:
        """What the host calls when the last reference is gone.

        It refers to nothing that could keep the memory alive.
        """
        call_log, number = self._call_log, call["number"]
        origin = {"of": number, "made_by": call["method"], **self._identity}
        blocks, kept, times = self._blocks, self._kept, itertools.count(1)
        blocks[number] = block

        def finalize() -> None:
            made = {"pointer": block.address, "times": next(times), "live": block.live, **origin}
            with call_log.call("finalize", **made):
                kept.pop(number, None)
                blocks.pop(number, None)
                block.release()

        return finalize


class _RecordingPluginWithHostMemory(_RecordingPlugin):
    """With page-locked memory and pinned regions.

    A plugin on the host's other base class leaves both to the host.
    """

    def memhostalloc(self, size: Any, mapped: Any, portable: Any, wc: Any) -> Any:
        asked = {
            "size_bytes": facts.plain(size),
            "mapped": facts.plain(mapped),
            "portable": facts.plain(portable),
            "wc": facts.plain(wc),
        }
        with self._recorded("memhostalloc", **asked) as call:
            flags = MAPPED * bool(mapped) + PORTABLE * bool(portable) + WRITE_COMBINED * bool(wc)
            block = driver_memory.allocate_host(self._driver, size, flags)
            call["host_pointer"] = block.address
            return self._wrap(call, block, size, mapped, None)

    def mempin(self, owner: Any, pointer: Any, size: Any, mapped: Any) -> Any:
        asked = {
            "size_bytes": facts.plain(size),
            "mapped": facts.plain(mapped),
            "pointer_type": type_name(pointer),
            "host_pointer": facts.address(pointer),
            **_owner_facts(owner, pointer),
        }
        with self._recorded("mempin", **asked) as call:
            block = driver_memory.pin(self._driver, int(pointer), size, mapped)
            return self._wrap(call, block, size, mapped, owner)

    def _wrap(self, call: Facts, block: Block, size: Any, mapped: Any, owner: Any) -> Any:
        """The host's object for page-locked memory."""
        cls = self._host.MappedMemory if mapped else self._host.PinnedMemory
        pointer, finalizer = self._shape.pointer(block.address), self._finalizer(call, block)
        made = cls(self._proxy(), pointer, size, owner=owner, finalizer=finalizer)
        if not mapped or self._shape.bare:
            return made
        self._kept[call["number"]] = made
        return made.own()


def _device(context: Any) -> int | str | None:
    """The ordinal of a context's device."""
    device = read_attribute(context, "device")
    return None if context is None else facts.number(read_attribute(device, "id"))


def _owner_facts(owner: Any, pointer: Any) -> Facts:
    """The class of the owner, and whether it is an array that begins at the pointer."""
    begin = facts.address(read_attribute(read_attribute(owner, "ctypes"), "data"))
    return {
        "owner": bounded(type_name(owner)),
        "owner_begins_there": begin == facts.address(pointer),
    }


class _RecordingScope:
    """What defer_cleanup() returns: the scope of the host's base class, recorded."""

    def __init__(self, manager: _RecordingPlugin, inner: Any) -> None:
        self._manager, self._inner = manager, inner

    def __enter__(self) -> Any:
        with self._manager._recorded("defer_enter"):
            pass
        return None if self._inner is None else self._inner.__enter__()

    def __exit__(self, cls: Any, error: Any, trace: Any) -> None:
        if self._inner is not None:
            self._inner.__exit__(None, None, None)
        with self._manager._recorded("defer_exit", raising=cls is not None):
            pass
