//! Mutations that go wrong when memory is short or the driver reports another error.

use allocert_abi::emm::{KIND_DEVICE, Memory, Status};
use allocert_abi::export_emm_plugin;
use allocert_abi::plugin::Failure;

use crate::emm::base_manager::{
    Answer, BaseManager, fail, failed_with, null_memory, release_unless_null,
};
use crate::emm::mutation::state::{Flag, LiveBlocks, Locked};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_oom_returns_null => Mutant<OomReturnsNull>,
    mutant_oom_is_internal_error => Mutant<OomIsInternalError>,
    mutant_driver_error_is_out_of_memory => Mutant<DriverErrorIsOutOfMemory>,
    mutant_oom_frees_live_block => Mutant<OomFreesLiveBlock>,
    mutant_oom_is_permanent => Mutant<OomIsPermanent>,
    mutant_keeps_released_blocks => Mutant<KeepsReleasedBlocks>,
    mutant_oom_loses_free_list => Mutant<FreeList<OomLosesFreeList>>,
    mutant_oom_duplicates_free_block => Mutant<FreeList<OomDuplicatesFreeBlock>>,
    mutant_oom_keeps_freed_blocks => Mutant<FreeList<OomKeepsFreedBlocks>>,
    mutant_driver_error_returns_null => Mutant<DriverErrorReturnsNull>,
    mutant_oom_disables_reset => Mutant<OomDisablesReset>,
}

fn out_of_memory<T>(answer: &Answer<T>) -> bool {
    failed_with(answer, Status::OUT_OF_MEMORY)
}

/// Returns address 0 and success when memory is short.
#[derive(Default)]
struct OomReturnsNull;

impl Mutation for OomReturnsNull {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let answer = base.memalloc(size_bytes);
        if out_of_memory(&answer) { Ok(null_memory(size_bytes)) } else { answer }
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        release_unless_null(base, token)
    }
}

/// Reports an internal error when memory is short.
#[derive(Default)]
struct OomIsInternalError;

impl Mutation for OomIsInternalError {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let answer = base.memalloc(size_bytes);
        if out_of_memory(&answer) {
            Err(fail(Status::INTERNAL, "memalloc: std::bad_alloc"))
        } else {
            answer
        }
    }
}

/// Reports every error of the driver as a lack of memory.
#[derive(Default)]
struct DriverErrorIsOutOfMemory;

impl Mutation for DriverErrorIsOutOfMemory {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        base.memalloc(size_bytes).map_err(out_of_memory_instead)
    }

    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags).map_err(out_of_memory_instead)
    }
}

fn out_of_memory_instead(failure: Failure) -> Failure {
    match failure.status {
        Status::DRIVER_ERROR => fail(Status::OUT_OF_MEMORY, "the driver gave no memory"),
        _ => failure,
    }
}

/// Frees a live block when memory is short.
#[derive(Default)]
struct OomFreesLiveBlock {
    live: LiveBlocks,
    /// The tokens of the blocks that the mutation released.
    freed: Locked<Vec<u64>>,
}

impl Mutation for OomFreesLiveBlock {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let answer = base.memalloc(size_bytes);
        if out_of_memory(&answer)
            && let Some(oldest) = self.live.oldest()
        {
            self.live.remove(oldest.token);
            self.freed.lock().push(oldest.token);
            base.release(oldest.token)?;
        }
        answer.map(|memory| self.live.add(memory))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.live.remove(token);
        if self.freed.lock().contains(&token) { Ok(()) } else { base.release(token) }
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }
}

/// Refuses every request until reset once memory was short.
#[derive(Default)]
struct OomIsPermanent {
    happened: Flag,
}

impl Mutation for OomIsPermanent {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        if self.happened.is_set() {
            return Err(fail(Status::OUT_OF_MEMORY, "memalloc: out of memory before"));
        }
        let answer = base.memalloc(size_bytes);
        if out_of_memory(&answer) {
            self.happened.set();
        }
        answer
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        self.happened.clear();
        base.reset()
    }
}

/// Returns address 0 and success when the driver reports any other error.
#[derive(Default)]
struct DriverErrorReturnsNull;

impl Mutation for DriverErrorReturnsNull {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        match base.memalloc(size_bytes) {
            Err(failure) if failure.status == Status::DRIVER_ERROR => Ok(null_memory(size_bytes)),
            answer => answer,
        }
    }

    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags).or_else(|_| Ok(null_memory(size_bytes)))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        release_unless_null(base, token)
    }
}

/// Frees nothing at reset once memory was short.
#[derive(Default)]
struct OomDisablesReset {
    happened: Flag,
}

impl Mutation for OomDisablesReset {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let answer = base.memalloc(size_bytes);
        if out_of_memory(&answer) {
            self.happened.set();
        }
        answer
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        if self.happened.is_set() { Ok(()) } else { base.reset() }
    }

    fn destroy(&self, base: BaseManager) {
        std::mem::forget(base);
    }
}

/// A list of free blocks, and what goes wrong with it when memory is short.
trait FreeListFault: Default + Send + Sync + 'static {
    fn when_out_of_memory(&self, free: &mut Vec<Memory>, base: &BaseManager);
}

/// Keeps released blocks in a list for requests of the same size.
#[derive(Default)]
struct FreeList<F> {
    live: LiveBlocks,
    free: Locked<Vec<Memory>>,
    fault: F,
}

impl<F: FreeListFault> Mutation for FreeList<F> {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let mut free = self.free.lock();
        let same = free
            .iter()
            .position(|memory| memory.kind == KIND_DEVICE && memory.size_bytes == size_bytes);
        let answer = same.map_or_else(|| base.memalloc(size_bytes), |at| Ok(free.remove(at)));
        if out_of_memory(&answer) {
            self.fault.when_out_of_memory(&mut free, base);
        }
        answer.map(|memory| self.live.add(memory))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        match self.live.remove(token) {
            Some(memory) => {
                self.free.lock().push(memory);
                Ok(())
            }
            None => base.release(token),
        }
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        self.live.clear();
        self.free.lock().clear();
        base.reset()
    }
}

/// Loses its list of free blocks when memory is short, so that nobody gets them before a reset.
#[derive(Default)]
struct OomLosesFreeList;

impl FreeListFault for OomLosesFreeList {
    fn when_out_of_memory(&self, free: &mut Vec<Memory>, _base: &BaseManager) {
        free.clear();
    }
}

/// Adds its newest free block to its list a second time when memory is short.
#[derive(Default)]
struct OomDuplicatesFreeBlock;

impl FreeListFault for OomDuplicatesFreeBlock {
    fn when_out_of_memory(&self, free: &mut Vec<Memory>, _base: &BaseManager) {
        free.extend(free.last().copied());
    }
}

/// Frees its free blocks when memory is short, but keeps them in its list.
#[derive(Default)]
struct OomKeepsFreedBlocks;

impl FreeListFault for OomKeepsFreedBlocks {
    fn when_out_of_memory(&self, free: &mut Vec<Memory>, base: &BaseManager) {
        for memory in free {
            let _ = base.release(memory.token);
        }
    }
}

/// Keeps released blocks for requests of the same size, even when memory is short. It keeps host
/// memory too, and never returns it again.
#[derive(Default)]
struct KeepsReleasedBlocks {
    list: FreeList<NoFault>,
}

#[derive(Default)]
struct NoFault;

impl FreeListFault for NoFault {
    fn when_out_of_memory(&self, _free: &mut Vec<Memory>, _base: &BaseManager) {}
}

impl Mutation for KeepsReleasedBlocks {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        self.list.memalloc(base, size_bytes)
    }

    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.list.live.add(base.memhostalloc(size_bytes, flags)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.list.release(base, token)
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        self.list.reset(base)
    }
}
