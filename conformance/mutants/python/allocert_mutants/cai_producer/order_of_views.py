"""Producers whose exports do not cover work that was enqueued through other views."""

from collections.abc import Iterator
from typing import Any

from allocert_mutants.cuda_driver import Work

from .conforming_producer import Array, adapter
from .views import KnowsSources


class _FamilyArray(Array):
    """An array that knows its own work, that of its views, and that of what it is a view of."""

    source: "_FamilyArray | None" = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.own: list[Work] = []
        self.through_views: list[Work] = []

    def sources(self) -> "Iterator[_FamilyArray]":
        array = self.source
        while array is not None:
            yield array
            array = array.source

    def record_work(self, work: Work) -> None:
        super().record_work(work)
        self.own.append(work)
        for array in self.sources():
            array.through_views.append(work)

    def pending_work(self) -> list[Work]:
        return self.own + self.through_views + [work for one in self.sources() for work in one.own]


class OverlooksSiblings(KnowsSources):
    """Exports no stream for work through another view of the same array."""

    array_class: type[Array] = _FamilyArray


class _ReadsInFamily(_FamilyArray):
    def pending_work(self) -> list[Work]:
        return [work for work in self.memory.work if work.writes] + super().pending_work()


class OverlooksReadsOfSiblings(OverlooksSiblings):
    """Exports no stream for reads through another view of the same array."""

    array_class = _ReadsInFamily


class _NotesRanges(Array):
    """An array that looks for work on the range of addresses that it shows."""

    def shown_range(self) -> tuple[int, int]:
        return self.address_range()

    def pending_work(self) -> list[Work]:
        start, end = self.shown_range()
        return [work for work in self.memory.work if start < work.end and work.start < end]

    def bytes_behind_pointer(self) -> tuple[int, int]:
        """The range of the elements if they followed the pointer without gaps."""
        return self.address(), self.address() + self.host_array.nbytes

    def is_reversed(self) -> bool:
        return any(stride < 0 for stride in self.host_array.strides)


@adapter
class NotesWorkWithoutSteps(_NotesRanges):
    """Notes work on a view with a step for as many bytes behind its pointer as it has."""

    def record_work(self, work: Work) -> None:
        if not self.is_reversed():
            work.start, work.end = self.bytes_behind_pointer()
        super().record_work(work)


@adapter
class NotesWorkWithoutDirection(_NotesRanges):
    """Notes work on a reversed view for as many bytes behind its pointer as it has."""

    def record_work(self, work: Work) -> None:
        if self.is_reversed():
            work.start, work.end = self.bytes_behind_pointer()
        super().record_work(work)


@adapter
class ExportsWithoutSteps(_NotesRanges):
    """Looks for work in the bytes behind the pointer when it exports a view with a step."""

    def shown_range(self) -> tuple[int, int]:
        return self.address_range() if self.is_reversed() else self.bytes_behind_pointer()


@adapter
class ExportsWithoutDirection(_NotesRanges):
    """Looks for work in the bytes behind the pointer when it exports a reversed view."""

    def shown_range(self) -> tuple[int, int]:
        return self.bytes_behind_pointer() if self.is_reversed() else self.address_range()


@adapter
class OverlooksReadsThroughViews(Array):
    """Exports no stream for reads of a part of its memory."""

    def pending_work(self) -> list[Work]:
        size = self.memory.size_bytes
        return [work for work in self.memory.work if work.writes or work.end - work.start == size]


@adapter
class OverlooksReadsAtExportOfViews(Array):
    """Exports a stream for the writes alone if the array shows a part of its memory."""

    def pending_work(self) -> list[Work]:
        part = self.host_array.nbytes != self.memory.size_bytes
        return [work for work in self.memory.work if work.writes or not part]
