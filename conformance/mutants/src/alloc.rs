//! Wrong device memory.

use allocert_abi::emm::{KIND_PINNED, Memory, Status};
use allocert_cuda::{Span, Stream};

use crate::base::{Answer, Base, Kind, fail};
use crate::mutant::{Cell, Count, Live, Mutation};

/// Every second block is the one before it.
#[derive(Default)]
pub(crate) struct Overlapping {
    count: Count,
    live: Live,
}

impl Mutation for Overlapping {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let mut memory = base.memalloc(size_bytes)?;
        if self.count.next() % 2 == 1
            && let Some(other) = self.live.oldest()
        {
            memory.device_pointer = other.device_pointer;
        }
        Ok(self.live.enter(memory))
    }

    fn live(&self) -> Option<&Live> {
        Some(&self.live)
    }
}

/// Blocks begin behind a header of 8 bytes.
#[derive(Default)]
pub(crate) struct Misaligned;

impl Mutation for Misaligned {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes.saturating_add(8))?;
        Ok(Memory { device_pointer: memory.device_pointer + 8, size_bytes, ..memory })
    }
}

/// Reports the size of the block instead of the size that was asked for.
#[derive(Default)]
pub(crate) struct RoundedSize;

impl Mutation for RoundedSize {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        Ok(Memory { size_bytes: size_bytes.next_multiple_of(512), ..memory })
    }
}

/// Calls device memory pinned host memory.
#[derive(Default)]
pub(crate) struct WrongKind;

impl Mutation for WrongKind {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { kind: KIND_PINNED, ..base.memalloc(size_bytes)? })
    }
}

/// Succeeds and gives no address.
#[derive(Default)]
pub(crate) struct NullPointer;

impl Mutation for NullPointer {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { device_pointer: 0, ..base.memalloc(size_bytes)? })
    }
}

/// Takes half of what it gives.
#[derive(Default)]
pub(crate) struct HalfBlock;

impl Mutation for HalfBlock {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { size_bytes, ..base.memalloc(size_bytes.div_ceil(2))? })
    }
}

/// Leaves the last bytes of a large odd size to the neighbour.
#[derive(Default)]
pub(crate) struct ShortWhenOdd;

impl Mutation for ShortWhenOdd {
    const KIND: Kind = Kind::Pool;

    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let large_and_odd = size_bytes > 100_000 && size_bytes % 2 == 1;
        let taken = if large_and_odd { size_bytes / 512 * 512 } else { size_bytes };
        Ok(Memory { size_bytes, ..base.memalloc(taken)? })
    }
}

/// Allocates on device 0, whichever device the manager is for.
#[derive(Default)]
pub(crate) struct FirstDevice;

impl Mutation for FirstDevice {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        if base.device == 0 {
            return base.memalloc(size_bytes);
        }
        let driver = base.driver;
        let error =
            |error: allocert_cuda::DriverError| fail(Status::DRIVER_ERROR, error.to_string());
        let first = driver.primary_ctx_retain(0).map_err(error)?;
        driver.ctx_push_current(first).map_err(error)?;
        let memory = base.memalloc(size_bytes);
        driver.ctx_pop_current().map_err(error)?;
        driver.primary_ctx_release(0).map_err(error)?;
        memory
    }
}

/// Promises every size and gives at most 1 MiB.
#[derive(Default)]
pub(crate) struct Promises;

impl Mutation for Promises {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { size_bytes, ..base.memalloc(size_bytes.min(1 << 20))? })
    }
}

/// Writes into the oldest live block whenever it allocates.
#[derive(Default)]
pub(crate) struct Scribbler {
    live: Live,
}

impl Mutation for Scribbler {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        if let Some(oldest) = self.live.oldest().filter(|oldest| oldest.size_bytes > 0) {
            // SAFETY: device memory of this manager, live. That its owner did not ask for it is the
            // mutation.
            let _ =
                unsafe { base.driver.memset_d8(oldest.device_pointer, 0xa5, oldest.size_bytes) };
        }
        Ok(self.live.enter(memory))
    }

    fn live(&self) -> Option<&Live> {
        Some(&self.live)
    }
}

/// Clears its memory on a stream of its own, which the default stream does not wait for, and does
/// not wait for it either.
#[derive(Default)]
pub(crate) struct ClearsLate {
    stream: Cell<Option<Stream>>,
}

impl Mutation for ClearsLate {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        let error =
            |error: allocert_cuda::DriverError| fail(Status::DRIVER_ERROR, error.to_string());
        let mut own = self.stream.lock();
        let stream = match own.take() {
            Some(stream) => stream,
            None => base.driver.stream_create().map_err(error)?,
        };
        if size_bytes > 0 {
            // SAFETY: the base has just given out these bytes, nobody on the host refers into
            // device memory, and the driver runs what was queued before it takes memory back.
            let span = unsafe { Span::foreign(memory.device_pointer, size_bytes, None) };
            base.driver.memset_d8_async(&span, 0, &stream).map_err(error)?;
        }
        *own = Some(stream);
        Ok(memory)
    }
}

/// Refuses the first request.
#[derive(Default)]
pub(crate) struct LateStart {
    count: Count,
}

impl Mutation for LateStart {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        match self.count.next() {
            0 => Err(fail(Status::INTERNAL, "memalloc: not warmed up")),
            _ => base.memalloc(size_bytes),
        }
    }
}
