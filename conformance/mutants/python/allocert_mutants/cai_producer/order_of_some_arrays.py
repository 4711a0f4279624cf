"""Producers whose exports of some arrays cover the pending work, and those of others not."""

from typing import Any

from allocert_mutants.cuda_driver import LEGACY, Work

from .conforming_producer import Array, Entry, Producer, adapter


class OverlooksArrays(Array):
    """Exports no stream for pending work on the arrays that it overlooks."""

    def overlooks(self) -> bool:
        raise NotImplementedError

    def pending_work(self) -> list[Work]:
        return [] if self.overlooks() else super().pending_work()


@adapter
class OrdersContiguousOnly(OverlooksArrays):
    """Exports a stream for arrays in C order without gaps, and for no other."""

    def overlooks(self) -> bool:
        return not self.host_array.flags.c_contiguous


@adapter
class OverlooksReversedRows(OverlooksArrays):
    """Exports no stream for arrays whose first stride is negative."""

    def overlooks(self) -> bool:
        return any(stride < 0 for stride in self.host_array.strides[:1])


@adapter
class OverlooksNegativeLastStride(OverlooksArrays):
    """Exports no stream for arrays whose last stride is negative."""

    def overlooks(self) -> bool:
        return any(stride < 0 for stride in self.host_array.strides[-1:])


@adapter
class OverlooksBroadcast(OverlooksArrays):
    """Exports no stream for arrays with a stride of 0."""

    def overlooks(self) -> bool:
        return 0 in self.host_array.strides


@adapter
class OverlooksFortranOrder(OverlooksArrays):
    """Exports no stream for matrices in Fortran order."""

    def overlooks(self) -> bool:
        return self.host_array.flags.fnc


@adapter
class OverlooksWorkOnFortranOrder(OverlooksArrays):
    """Notes no work on matrices in Fortran order, and exports no stream for it."""

    def overlooks(self) -> bool:
        return False

    def record_work(self, work: Work) -> None:
        if not self.host_array.flags.fnc:
            super().record_work(work)


@adapter
class OverlooksPitchedRows(OverlooksArrays):
    """Exports no stream for matrices whose rows have gaps behind them."""

    def overlooks(self) -> bool:
        array = self.host_array
        return array.ndim == 2 and 0 < array.strides[1] * array.shape[1] < array.strides[0]


@adapter
class OverlooksCubes(OverlooksArrays):
    """Exports no stream for arrays of more than two axes."""

    def overlooks(self) -> bool:
        return self.host_array.ndim > 2


@adapter
class OverlooksScalars(OverlooksArrays):
    """Exports no stream for arrays without axes."""

    def overlooks(self) -> bool:
        return self.host_array.ndim == 0


@adapter
class OverlooksSingleElements(OverlooksArrays):
    """Exports no stream for arrays of one element that have axes."""

    def overlooks(self) -> bool:
        return self.host_array.ndim > 0 and self.host_array.size == 1


@adapter
class OverlooksLargeArrays(OverlooksArrays):
    """Exports no stream for arrays of more than 64 KiB."""

    def overlooks(self) -> bool:
        return self.host_array.nbytes > 1 << 16


@adapter
class OrdersFloatsAndBytesOnly(OverlooksArrays):
    """Exports a stream for float32 and for bytes."""

    def overlooks(self) -> bool:
        return self.host_array.dtype.str not in ("<f4", "|u1")


@adapter
class OverlooksMasked(OverlooksArrays):
    """Exports no stream for masked arrays."""

    def overlooks(self) -> bool:
        return self.mask is not None


@adapter
class OverlooksStructured(OverlooksArrays):
    """Exports no stream for elements with fields."""

    def overlooks(self) -> bool:
        return self.host_array.dtype.fields is not None


@adapter
class OverlooksReadOnly(OverlooksArrays):
    """Exports no stream for arrays that must not be written."""

    def overlooks(self) -> bool:
        return self.read_only


class _MarkedArray(OverlooksArrays):
    """An array that is overlooked where its producer says so."""

    is_marked = False

    def overlooks(self) -> bool:
        return self.is_marked


class OverlooksManaged(Producer):
    """Exports no stream for arrays in managed memory."""

    array_class: type[Array] = _MarkedArray
    overlooked: tuple[str, ...] = ("managed",)

    def array(self, spec: Any) -> Any:
        made: Any = super().array(spec)
        made.is_marked = spec.memory in self.overlooked
        return made


class OverlooksHostMemory(OverlooksManaged):
    """Exports no stream for arrays in memory of the host."""

    overlooked = ("mapped", "pinned")


class OverlooksOtherViews(Producer):
    """Exports no stream for views that were made by other operations than NumPy's indexing."""

    array_class: type[Array] = _MarkedArray

    def view(self, array: Any, way: str, value: Any) -> Any:
        made: Any = super().view(array, way, value)
        made.is_marked = way in ("reshape", "dtype", "byteswapped")
        return made


@adapter
class OverlooksReadsBesideWrites(Array):
    """Exports a stream for the writes alone, if there are any."""

    def pending_work(self) -> list[Work]:
        work = super().pending_work()
        return [one for one in work if one.writes] or work


@adapter
class WaitsForContiguousOnly(Array):
    """Exports None, and waits on the host for the pending work on contiguous arrays before."""

    def stream_entry(self) -> Entry:
        if self.host_array.flags.c_contiguous:
            self.memory.wait()
        return None


class WithStreamOfMask:
    """Shows the interface of a mask with another stream."""

    def __init__(self, mask: Array, stream: Entry) -> None:
        self.mask, self.stream = mask, stream

    @property
    def __cuda_array_interface__(self) -> Any:
        return {**self.mask.interface(), "stream": self.stream}


@adapter
class MaskWithoutStream(Array):
    """Exports no stream for pending work on a mask."""

    def mask_entry(self, mask: Array) -> Entry:
        return WithStreamOfMask(mask, None)


@adapter
class MaskWithStreamOfData(Array):
    """Exports the stream of the data for a mask too."""

    def mask_entry(self, mask: Array) -> Entry:
        stream = self.stream.handle if self.stream else LEGACY
        return WithStreamOfMask(mask, stream)


@adapter
class MaskOfViewsWithoutStream(Array):
    """Exports no stream for pending work on the mask of a view."""

    def mask_entry(self, mask: Array) -> Entry:
        is_whole = self.host_array.nbytes == self.memory.size_bytes
        return mask if is_whole else WithStreamOfMask(mask, None)
