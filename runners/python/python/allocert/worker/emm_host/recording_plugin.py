"""The plugin that a host under test is given: it serves memory as both texts ask for it, and writes down every call into it."""

import contextlib
import ctypes
import weakref

from ..safe_access import read_attribute as read
from ..safe_text import bounded, type_name
from ..emm_shared import facts
from . import driver_memory as memory
from .driver_memory import MAPPED, PORTABLE, WRITE_COMBINED

#: What the plugin says of its memory: nobody who asks the driver hears this.
FREE_BYTES, TOTAL_BYTES = 12345, 67890
POINTERS = {"integer": int, "c_void_p": ctypes.c_void_p, "c_uint64": ctypes.c_uint64}


class Shape:
    """What a case asks of the plugin that it registers."""

    def __init__(self, described):
        self.base = described.get("base", "full")
        self.without = frozenset(described.get("without", ()))
        self.pointer = POINTERS[described.get("pointer", "integer")]
        #: Mapped memory is returned as the object that the texts name, not as the one that numba-cuda makes of it.
        self.bare = described.get("bare", False)
        #: IPC handles are left to the mixin of the host.
        self.mixin = described.get("mixin", False)


def make(host, shape, journal, driver, registration, version):
    """A plugin class on the host's own base class. `registration` tells the classes of a case apart."""
    if shape.base == "host_only":
        bases = (_Recording, host.HostOnlyCUDAMemoryManager)
    else:
        bases = (_HostMemory, _Recording, host.BaseCUDAMemoryManager)
    members = {name: getattr(bases[-1], name) for name in shape.without}
    if shape.mixin:
        members["get_ipc_handle"] = host.GetIpcHandleMixin.get_ipc_handle
    members.update(_host=host, _shape=shape, _journal=journal, _driver=driver)
    members.update(_version=version, registration=registration)
    return type(bases[-1])("RecordingPlugin", bases, members)


class _Recording:
    """All but host memory."""

    def __init__(self, *args, **kwargs):
        context = kwargs.get("context")
        self._blocks, self._kept, self._ready = {}, {}, False
        self._who = {
            "manager": self._journal.manager(),
            "registration": self.registration,
            "device": _device(context),
        }
        with self._journal.call("create", context_is_none=context is None, **self._who):
            pass
        super().__init__(*args, **kwargs)

    @property
    def interface_version(self):
        with self._called("interface_version") as call:
            call["version"] = facts.plain(self._version)
            return self._version

    def initialize(self):
        with self._called("initialize"):
            self._ready = True
        super().initialize()

    def memalloc(self, size):
        with self._called("memalloc", size_bytes=facts.plain(size)) as call:
            block = memory.allocate(self._driver, size)
            call["pointer"] = block.address
            pointer = self._shape.pointer(block.address)
            return self._host.MemoryPointer(
                self._proxy(), pointer, size, finalizer=self._finalizer(call, block)
            )

    def get_memory_info(self):
        with self._called("get_memory_info") as call:
            call.update(free_bytes=FREE_BYTES, total_bytes=TOTAL_BYTES)
            return self._host.MemoryInfo(free=FREE_BYTES, total=TOTAL_BYTES)

    def get_ipc_handle(self, memory_pointer):
        pointer = facts.address(read(read(memory_pointer, "device_ctypes_pointer"), "value"))
        size = read(memory_pointer, "size")
        with self._called("get_ipc_handle", pointer=pointer, size_bytes=facts.plain(size)) as call:
            start = memory.base(self._driver, pointer)
            raw = memory.ipc_handle(self._driver, start)
            call["handle"] = raw.hex()
            identity = self.context.device.get_device_identity()
            handle = facts.driver_handle(raw)
            return self._host.IpcHandle(
                memory_pointer, handle, size, identity, offset=pointer - start
            )

    def reset(self):
        # The host may reset with any context current, or none; whoever frees needs the right one.
        with self._called("reset"), self._driver.current_kept():
            self._driver.call("cuCtxSetCurrent", ctypes.c_void_p(int(self.context.handle)))
            for block in list(self._blocks.values()):
                block.release()
            self._blocks.clear()
        super().reset()

    def defer_cleanup(self):
        with self._called("defer_cleanup"):
            pass
        return _Scope(self, super().defer_cleanup())

    @contextlib.contextmanager
    def _called(self, method, **arguments):
        """A call of the host, with what is true of this manager and its context at that moment.

        What the base class does is the host's own work and is left outside.
        """
        with self._journal.call(method, initialized=self._ready, **self._who, **arguments) as call:
            if self.context is not None:
                call["own_context_current"] = memory.current(self._driver) == int(
                    self.context.handle
                )
            yield call

    def _proxy(self):
        return weakref.proxy(self.context)

    def _finalizer(self, call, block):
        """Called by the host when the last reference is gone. It holds nothing that could keep the memory alive."""
        journal, made = self._journal, dict(of=call["number"], made_by=call["method"], **self._who)
        blocks, kept, times = self._blocks, self._kept, iter(range(1, 1 << 30))
        blocks[call["number"]] = block

        def finalize():
            with journal.call(
                "finalize", pointer=block.address, times=next(times), live=block.live, **made
            ):
                kept.pop(made["of"], None)
                blocks.pop(made["of"], None)
                block.release()

        return finalize


class _HostMemory:
    """Page-locked memory and pinned regions, which a plugin on the host's other base class leaves to the host."""

    def memhostalloc(self, size, mapped, portable, wc):
        asked = dict(mapped=facts.plain(mapped), portable=facts.plain(portable), wc=facts.plain(wc))
        with self._called("memhostalloc", size_bytes=facts.plain(size), **asked) as call:
            flags = MAPPED * bool(mapped) + PORTABLE * bool(portable) + WRITE_COMBINED * bool(wc)
            block = memory.allocate_host(self._driver, size, flags)
            call["host_pointer"] = block.address
            return self._wrap(call, block, size, mapped, None)

    def mempin(self, owner, pointer, size, mapped):
        asked = dict(
            size_bytes=facts.plain(size),
            mapped=facts.plain(mapped),
            pointer_type=type_name(pointer),
        )
        asked.update(host_pointer=facts.address(pointer), **_owner(owner, pointer))
        with self._called("mempin", **asked) as call:
            block = memory.pin(self._driver, int(pointer), size, mapped)
            return self._wrap(call, block, size, mapped, owner)

    def _wrap(self, call, block, size, mapped, owner):
        pointer, finalizer = self._shape.pointer(block.address), self._finalizer(call, block)
        if not mapped:
            return self._host.PinnedMemory(
                self._proxy(), pointer, size, owner=owner, finalizer=finalizer
            )
        made = self._host.MappedMemory(
            self._proxy(), pointer, size, owner=owner, finalizer=finalizer
        )
        if self._shape.bare:
            return made
        self._kept[call["number"]] = made
        return made.own()


def _device(context):
    return None if context is None else facts.number(read(read(context, "device"), "id"))


def _owner(owner, pointer):
    """Whether the owner is an array that begins at the pointer."""
    begins = facts.address(read(read(owner, "ctypes"), "data"))
    return {
        "owner": bounded(type_name(owner)),
        "owner_begins_there": begins == facts.address(pointer),
    }


class _Scope:
    """What defer_cleanup() returned."""

    def __init__(self, manager, inner):
        self._manager, self._inner = manager, inner

    def __enter__(self):
        with self._manager._called("defer_enter"):
            pass
        return None if self._inner is None else self._inner.__enter__()

    def __exit__(self, kind, error, traceback):
        if self._inner is not None:
            self._inner.__exit__(None, None, None)
        with self._manager._called("defer_exit", raising=kind is not None):
            return False
