"""The worker as a producer: objects whose interface says anything that a case asks for."""

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ..cai_shared.layout import Layout
from ..device import PER_THREAD, Memory

#: What fills memory between elements, and how many bytes of it follow them.
GAP_BYTE, TRAILING_BYTES = 0xEE, 64

#: Stands in entries for the exporter itself.
ITSELF = object()


class Exporter:
    """What the subject gets: an object with the attribute, which owns the memory."""

    __slots__ = ("__weakref__", "_record")

    def __init__(self, record: "ExportRecord") -> None:
        self._record = record
        _free_with(self, record)

    @property
    def __cuda_array_interface__(self) -> Any:
        return self._record.read(self)


class ExportRecord:
    """What the worker knows of an exporter: its memory, its entries, and each read of them."""

    def __init__(
        self,
        memory: Memory,
        layout: Layout,
        typestr: str,
        entries: dict[str, Any],
        attribute: str,
        becomes: "ExportRecord | None",
        kept: Iterable[Any],
        wait_for_work: Callable[[], object],
    ) -> None:
        """`attribute` is how reads behave (`plain`, `subclass`, ...).

        Reads after the first give the entries of the record `becomes`, if there is one. `kept`
        lives as long as the exporter: its stream, its mask, the owner of its memory and what it
        becomes. `wait_for_work` waits for all work on its data.
        """
        self.memory, self.layout, self.typestr = memory, layout, typestr
        self._entries, self._attribute, self._becomes = entries, attribute, becomes
        self._kept = kept
        self._wait_for_work, self._thread = wait_for_work, threading.get_ident()
        self.reads = 0
        #: Each dict that was given out, with the entries that it had then.
        self._given: list[tuple[Any, dict[str, Any]]] = []

    def read(self, exporter: Exporter) -> Any:
        """The value of the attribute."""
        self.reads += 1
        if self._entries.get("stream") == PER_THREAD and threading.get_ident() != self._thread:
            # The reader takes 2 for the stream of its own thread. The work is in another one.
            self._wait_for_work()
        if self._attribute == "missing":
            raise AttributeError("this object shows no interface")
        if self._attribute == "raises":
            raise RuntimeError("this object cannot be exported")
        entries = {
            key: exporter if value is ITSELF else value
            for key, value in self._current_entries().items()
        }
        given: Any
        if self._attribute == "subclass":
            given = _DictSubclass(entries)
        elif self._attribute == "pairs":
            given = list(entries.items())
        else:
            given = dict(entries)
        self._given.append((given, entries))
        return given

    def _current_entries(self) -> dict[str, Any]:
        if self._becomes is not None and self.reads > 1:
            return self._becomes._entries
        return self._entries

    @property
    def descr(self) -> Any:
        """The entry of this name, or None."""
        return self._entries.get("descr")

    @property
    def unchanged(self) -> bool:
        """Whether every dict that was given out is as it was."""
        return all(dict(given) == entries for given, entries in self._given)


class _DictSubclass(dict[str, Any]):
    """A dict that is not exactly one."""


def exporter_of(record: ExportRecord, earlier: Exporter | None) -> Exporter:
    """An object that exports what the record says: a new one, or an earlier one from now on."""
    if earlier is None:
        return Exporter(record)
    earlier._record = record
    _free_with(earlier, record)
    return earlier


def _free_with(exporter: Exporter, record: ExportRecord) -> None:
    weakref.finalize(exporter, record.memory.free).atexit = False


def record_of(exporter: Exporter) -> ExportRecord:
    """The record of an exporter, which subjects do not see."""
    return exporter._record


def memory_image(layout: Layout, elements: Iterable[bytes]) -> bytes:
    """The memory of an array whose elements, in C order, are these."""
    low, high = layout.span()
    raw = bytearray([GAP_BYTE]) * (high - low)
    for offset, element in zip(layout.offsets(), elements, strict=False):
        raw[offset - low : offset - low + len(element)] = element
    return bytes(raw)
