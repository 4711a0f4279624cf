"""Producers that fill a new array in a stream which its export does not cover."""

from typing import Any

from allocert_mutants.cuda_driver import Memory, Stream, enqueue_upload

from .conforming_producer import HostArray, Producer


class FillsInHiddenStream(Producer):
    """Fills arrays that have no stream in a stream of its own, and notes no work."""

    def __init__(self) -> None:
        self._hidden = Stream()

    def upload(
        self, memory: Memory, host_array: HostArray, stream: Stream | None = None, *more: Any
    ) -> None:
        if self.hides(stream):
            source = host_array.ctypes.data
            enqueue_upload(memory.base, source, host_array.nbytes, self._hidden)
        else:
            super().upload(memory, host_array, stream, *more)

    def hides(self, stream: Stream | None) -> bool:
        """Whether the work that fills an array of this stream is in the hidden one."""
        return stream is None


class FillsBesideStream(FillsInHiddenStream):
    """Fills arrays that have a stream in another one, and notes no work."""

    def hides(self, stream: Stream | None) -> bool:
        return stream is not None
