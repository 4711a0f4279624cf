//! Copies: when they take the source's bytes, when the host waits, and whose work they are. As
//! measured on an H200, see `reference/libcuda/tests/order`.

use allocert_contract::StreamHandle;

use crate::{
    Caller, Driver,
    error::{CudaError, Result},
    side::{Kind, Side},
    transfer::{Extent, Plane, Source, Transfer},
    work_queue::Work,
};

/// A copy as a call describes it.
#[derive(Clone, Copy, Debug)]
pub struct CopyRequest {
    pub to: Plane,
    pub from: Plane,
    pub extent: Extent,
    pub direction: Direction,
}

/// Which sides the name of the call says that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The addresses tell, as in `cuMemcpy` and `cuMemcpy2D`.
    Any,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// Between two devices that the call names, neither of which needs access to the other.
    Peer,
}

/// What lies at both sides of a copy.
#[derive(Clone, Copy, Debug)]
struct Sides {
    to: Side,
    from: Side,
}

impl Sides {
    /// Whether the copy is between memory of devices and managed memory.
    fn are_on_device(&self) -> bool {
        !self.to.kind.is_host() && !self.from.kind.is_host()
    }
}

/// The operations of a queued copy.
struct Queued {
    /// Copies all, or all but the end of a large copy.
    start: u64,
    last: u64,
}

/// From this size on, a call that copies from pageable memory may return before the last bytes have
/// arrived.
const LATE_END_BYTES: u64 = 64 << 10;
/// So many of them arrive late here.
const END_BYTES: u64 = 4 << 10;
/// So much pageable memory is staged at once. The host waits until the driver has staged more than
/// that piece by piece, and so for the start of the copy.
const STAGED_AT_ONCE_BYTES: u64 = 2 << 20;

impl Driver {
    /// `cuMemcpy*`: waits for the copy, except from device to device and from pageable memory
    /// to the device's own.
    pub fn copy(&mut self, caller: &Caller, copy: &CopyRequest) -> Result {
        let stream = self.stream(caller, StreamHandle::DEFAULT)?;
        let Some(sides) = self.sides(stream, copy)? else { return Ok(()) };
        let far = self.far_ends(stream, &sides);
        if sides.from.kind == Kind::Pageable
            && sides.to.kind == Kind::Device
            && !sides.to.synchronous
        {
            // The host waits for earlier work of the stream, not for the copy.
            self.drain_streams(stream, &far)?;
            let queued = self.queue_copy(stream, copy, &sides, true, &far)?;
            if copy.bytes() > STAGED_AT_ONCE_BYTES || self.is_next(queued.start) {
                self.force([queued.start]);
            }
            return self.stream_usable(stream);
        }
        let waits = !sides.are_on_device()
            || sides.to.synchronous
            || sides.from.synchronous
            || copy.reads_managed_as_host(&sides)
            || copy.writes_managed_as_host(&sides);
        if waits {
            self.no_host_function_before_work(stream, &far)?;
        }
        let stage = sides.from.kind == Kind::Pageable;
        let queued = self.queue_copy(stream, copy, &sides, stage, &far)?;
        if waits { self.wait(stream, queued.last) } else { Ok(()) }
    }

    /// `cuMemcpy*Async`: waits where both sides are the host's, where pageable memory is written or
    /// much of it read, and where the call takes managed memory for the host's.
    pub fn copy_async(
        &mut self,
        caller: &Caller,
        copy: &CopyRequest,
        stream: StreamHandle,
    ) -> Result {
        self.ready(caller)?;
        let stream = self.stream(caller, stream)?;
        let Some(sides) = self.sides(stream, copy)? else { return Ok(()) };
        let far = self.far_ends(stream, &sides);
        if copy.reads_managed_as_host(&sides) {
            // As for pageable memory above: the copy itself may be behind another stream.
            self.drain_streams(stream, &far)?;
        }
        let to_host = sides.to.kind == Kind::Pageable
            || sides.to.kind == Kind::Locked && sides.from.kind.is_host()
            || copy.writes_managed_as_host(&sides);
        let piecewise = sides.from.kind == Kind::Pageable && copy.bytes() > STAGED_AT_ONCE_BYTES;
        if to_host || piecewise {
            self.no_host_function_before_work(stream, &far)?;
        }
        let stage = sides.from.kind == Kind::Pageable || copy.reads_managed_as_host(&sides);
        let queued = self.queue_copy(stream, copy, &sides, stage, &far)?;
        if to_host {
            return self.wait(stream, queued.last);
        }
        if piecewise { self.wait(stream, queued.start) } else { Ok(()) }
    }

    /// `None` if the copy has no bytes. Fails unless the driver knows the memory on the sides that
    /// the call says are the device's, and the stream's device reaches it.
    fn sides(&self, stream: u64, copy: &CopyRequest) -> Result<Option<Sides>> {
        if copy.extent.is_empty() {
            return Ok(None);
        }
        let side = |plane: Plane| {
            let span = plane.span(copy.extent).ok_or(CudaError::INVALID_VALUE)?;
            self.side(plane.address, span)
        };
        let sides = Sides { to: side(copy.to)?, from: side(copy.from)? };
        let unknown = |side: Side| side.kind == Kind::Pageable;
        let both = matches!(copy.direction, Direction::DeviceToDevice | Direction::Peer);
        let to_device = both || copy.direction == Direction::HostToDevice;
        let from_device = both || copy.direction == Direction::DeviceToHost;
        let reached = copy.direction == Direction::Peer
            || [copy.to, copy.from].iter().all(|one| self.reaches_pool_at(stream, one.address));
        let refused = sides.to.read_only
            || !reached
            || to_device && unknown(sides.to)
            || from_device && unknown(sides.from);
        if refused { Err(CudaError::INVALID_VALUE) } else { Ok(Some(sides)) }
    }

    /// Queues the copy on the stream, and makes it work of the far ends too. `stage` reads the
    /// source's bytes now.
    fn queue_copy(
        &mut self,
        stream: u64,
        copy: &CopyRequest,
        sides: &Sides,
        stage: bool,
        far: &[u64],
    ) -> Result<Queued> {
        let (first, end) = self.transfers(copy, sides, stage);
        let mut earlier = None;
        for other in far {
            earlier = Some(self.enqueue(*other, Work::Wait, earlier)?);
        }
        let start = self.enqueue(stream, Work::Copy(first), earlier)?;
        let last = match end {
            Some(end) => self.enqueue(stream, Work::Copy(end), None)?,
            None => start,
        };
        for other in far {
            self.enqueue(*other, Work::Wait, Some(last))?;
        }
        Ok(Queued { start, last })
    }

    /// What moves the bytes; two transfers if the end arrives late.
    fn transfers(
        &self,
        copy: &CopyRequest,
        sides: &Sides,
        stage: bool,
    ) -> (Transfer, Option<Transfer>) {
        let CopyRequest { to, from, extent, .. } = *copy;
        let transfer = |from| Transfer { to, to_block: sides.to.block, from, extent };
        if !stage {
            let source = Source::Later { from, block: sides.from.block };
            return (transfer(source), None);
        }
        let mut bytes = self.stage(from, extent);
        let late_end = sides.to.kind == Kind::Device && copy.bytes() >= LATE_END_BYTES;
        let end = late_end.then(|| {
            let offset = copy.bytes() - END_BYTES;
            let bytes = bytes.split_off(offset as usize);
            transfer(Source::Staged { bytes, offset })
        });
        (transfer(Source::Staged { bytes, offset: 0 }), end)
    }

    /// The legacy streams of other contexts whose work a copy in a legacy stream is, too: those of
    /// the contexts that own its device memory and its managed memory.
    fn far_ends(&self, stream: u64, sides: &Sides) -> Vec<u64> {
        let Some(near) = self.streams.get(stream).ok().filter(|near| near.is_legacy()) else {
            return Vec::new();
        };
        let mut far = Vec::new();
        for side in [sides.to, sides.from].into_iter().filter(|side| !side.kind.is_host()) {
            let Ok(owner) = self.contexts.get(side.context) else { continue };
            if owner.active && side.context != near.context && !far.contains(&owner.legacy) {
                far.push(owner.legacy);
            }
        }
        far
    }

    fn stage(&self, from: Plane, extent: Extent) -> Vec<u8> {
        let mut bytes = vec![0; extent.bytes() as usize];
        for (row, into) in bytes.chunks_exact_mut(extent.width as usize).enumerate() {
            self.host.read(from.at(row as u64, extent), into);
        }
        bytes
    }

    fn drain_streams(&mut self, stream: u64, far: &[u64]) -> Result {
        for stream in far {
            self.drain_stream(*stream)?;
        }
        self.drain_stream(stream)
    }

    /// Whether no function of the host must end before work on the stream and the far ends.
    fn no_host_function_before_work(&mut self, stream: u64, far: &[u64]) -> Result {
        let all = far.iter().copied().chain([stream]);
        let before: Vec<_> = all.flat_map(|stream| self.order_before(stream)).collect();
        self.no_host_function_before(before)
    }

    pub(crate) fn wait(&mut self, stream: u64, operation: u64) -> Result {
        self.force([operation]);
        self.stream_usable(stream)
    }
}

impl CopyRequest {
    fn bytes(&self) -> u64 {
        self.extent.bytes()
    }

    fn reads_managed_as_host(&self, sides: &Sides) -> bool {
        self.direction == Direction::HostToDevice && sides.from.kind == Kind::Managed
    }

    fn writes_managed_as_host(&self, sides: &Sides) -> bool {
        self.direction == Direction::DeviceToHost && sides.to.kind == Kind::Managed
    }
}
