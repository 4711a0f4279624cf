//! Mutations of `memalloc`.

use allocert_abi::emm::{IpcHandle, KIND_PINNED, Memory, Status};
use allocert_abi::export_emm_plugin;
use allocert_cuda::{Span, Stream};

use crate::emm::base_manager::{Answer, BaseKind, BaseManager, driver_error, fail};
use crate::emm::mutation::state::{Count, LiveBlocks, Locked};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_overlapping_blocks => Mutant<OverlappingBlocks>,
    mutant_misaligned_blocks => Mutant<MisalignedBlocks>,
    mutant_rounded_size => Mutant<RoundedSize>,
    mutant_wrong_kind => Mutant<WrongKind>,
    mutant_null_pointer => Mutant<NullPointer>,
    mutant_half_size_block => Mutant<HalfSizeBlock>,
    mutant_odd_size_too_short => Mutant<OddSizeTooShort>,
    mutant_always_device_0 => Mutant<AlwaysDevice0>,
    mutant_reserves_at_most_1_mib => Mutant<ReservesAtMost1Mib>,
    mutant_writes_to_live_block => Mutant<WritesToLiveBlock>,
    mutant_clears_without_waiting => Mutant<ClearsWithoutWaiting>,
    mutant_first_request_fails => Mutant<FirstRequestFails>,
}

/// Returns the oldest live block again for every second request.
#[derive(Default)]
struct OverlappingBlocks {
    count: Count,
    live: LiveBlocks,
}

impl Mutation for OverlappingBlocks {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let mut memory = base.memalloc(size_bytes)?;
        if self.count.increment() % 2 == 1
            && let Some(other) = self.live.oldest()
        {
            memory.device_pointer = other.device_pointer;
        }
        Ok(self.live.add(memory))
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }
}

/// Returns addresses 8 bytes behind the start of the block.
#[derive(Default)]
struct MisalignedBlocks;

impl Mutation for MisalignedBlocks {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes.saturating_add(8))?;
        Ok(Memory { device_pointer: memory.device_pointer + 8, size_bytes, ..memory })
    }

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        let handle = base.get_ipc_handle(token, offset_bytes.saturating_add(8))?;
        Ok(IpcHandle { size_bytes: handle.size_bytes - 8, ..handle })
    }
}

/// Reports the size rounded up to 512 bytes instead of the requested size.
#[derive(Default)]
struct RoundedSize;

impl Mutation for RoundedSize {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        Ok(Memory { size_bytes: size_bytes.next_multiple_of(512), ..memory })
    }
}

/// Reports device memory as pinned host memory.
#[derive(Default)]
struct WrongKind;

impl Mutation for WrongKind {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { kind: KIND_PINNED, ..base.memalloc(size_bytes)? })
    }
}

/// Succeeds and returns address 0.
#[derive(Default)]
struct NullPointer;

impl Mutation for NullPointer {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { device_pointer: 0, ..base.memalloc(size_bytes)? })
    }
}

/// Reserves half of the bytes that it reports.
#[derive(Default)]
struct HalfSizeBlock;

impl Mutation for HalfSizeBlock {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { size_bytes, ..base.memalloc(size_bytes.div_ceil(2))? })
    }
}

/// Reserves too few bytes for a large odd size, so that the next block overlaps its end.
#[derive(Default)]
struct OddSizeTooShort;

impl Mutation for OddSizeTooShort {
    const KIND: BaseKind = BaseKind::Pool;

    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let large_and_odd = size_bytes > 100_000 && size_bytes % 2 == 1;
        let reserved_bytes = if large_and_odd { size_bytes / 512 * 512 } else { size_bytes };
        Ok(Memory { size_bytes, ..base.memalloc(reserved_bytes)? })
    }
}

/// Allocates on device 0, whichever device the manager belongs to.
#[derive(Default)]
struct AlwaysDevice0;

impl Mutation for AlwaysDevice0 {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        if base.device == 0 {
            return base.memalloc(size_bytes);
        }
        let driver = base.driver;
        let first = driver.primary_ctx_retain(0).map_err(driver_error)?;
        driver.ctx_push_current(first).map_err(driver_error)?;
        let memory = base.memalloc(size_bytes);
        driver.ctx_pop_current().map_err(driver_error)?;
        driver.primary_ctx_release(0).map_err(driver_error)?;
        memory
    }
}

/// Reports every requested size, but reserves at most 1 MiB.
#[derive(Default)]
struct ReservesAtMost1Mib;

impl Mutation for ReservesAtMost1Mib {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { size_bytes, ..base.memalloc(size_bytes.min(1 << 20))? })
    }
}

/// Writes into the oldest live block at every allocation.
#[derive(Default)]
struct WritesToLiveBlock {
    live: LiveBlocks,
}

impl Mutation for WritesToLiveBlock {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        if let Some(oldest) = self.live.oldest().filter(|oldest| oldest.size_bytes > 0) {
            // SAFETY: live device memory of this manager. To write into it is the mutation.
            let _ =
                unsafe { base.driver.memset_d8(oldest.device_pointer, 0xa5, oldest.size_bytes) };
        }
        Ok(self.live.add(memory))
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }
}

/// Clears memory on a stream of its own and returns before the stream has finished.
#[derive(Default)]
struct ClearsWithoutWaiting {
    stream: Locked<Option<Stream>>,
}

impl Mutation for ClearsWithoutWaiting {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        let mut own = self.stream.lock();
        let stream = match own.take() {
            Some(stream) => stream,
            None => base.driver.stream_create().map_err(driver_error)?,
        };
        if size_bytes > 0 {
            // SAFETY: the base manager has just returned these bytes, nothing on the host refers
            // into device memory, and the driver finishes queued work before it frees memory.
            let span = unsafe { Span::foreign(memory.device_pointer, size_bytes, None) };
            base.driver.memset_d8_async(&span, 0, &stream).map_err(driver_error)?;
        }
        *own = Some(stream);
        Ok(memory)
    }
}

/// Refuses the first request.
#[derive(Default)]
struct FirstRequestFails {
    count: Count,
}

impl Mutation for FirstRequestFails {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        match self.count.increment() {
            0 => Err(fail(Status::INTERNAL, "memalloc: not warmed up")),
            _ => base.memalloc(size_bytes),
        }
    }
}
