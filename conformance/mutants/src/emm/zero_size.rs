//! Mutations of requests of zero bytes.

use allocert_abi::emm::{Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager, fail};
use crate::emm::mutation::state::{Flag, LiveBlocks};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_zero_size_is_internal_error => Mutant<ZeroSizeIsInternalError>,
    mutant_second_zero_size_fails => Mutant<SecondZeroSizeFails>,
    mutant_zero_size_shares_block => Mutant<ZeroSizeSharesBlock>,
    mutant_zero_size_needs_live_block => Mutant<ZeroSizeNeedsLiveBlock>,
    mutant_zero_size_fails_after_reset => Mutant<ZeroSizeFailsAfterReset>,
}

/// Reports an internal error for a request of zero bytes.
#[derive(Default)]
struct ZeroSizeIsInternalError;

impl Mutation for ZeroSizeIsInternalError {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        match size_bytes {
            0 => Err(fail(Status::INTERNAL, "memalloc: ZeroDivisionError")),
            _ => base.memalloc(size_bytes),
        }
    }

    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        match size_bytes {
            0 => Err(fail(Status::INTERNAL, "memhostalloc: ZeroDivisionError")),
            _ => base.memhostalloc(size_bytes, flags),
        }
    }
}

/// Refuses a second request of zero bytes, as a table by address does that allows an address once.
#[derive(Default)]
struct SecondZeroSizeFails {
    requested: Flag,
}

impl Mutation for SecondZeroSizeFails {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        if size_bytes == 0 {
            if self.requested.is_set() {
                return Err(fail(Status::INTERNAL, "memalloc: AssertionError: key 0 exists"));
            }
            self.requested.set();
        }
        base.memalloc(size_bytes)
    }
}

/// Returns the oldest live block for zero bytes, and frees it with them.
#[derive(Default)]
struct ZeroSizeSharesBlock {
    live: LiveBlocks,
}

impl Mutation for ZeroSizeSharesBlock {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        match self.live.oldest().filter(|_| size_bytes == 0) {
            Some(oldest) => Ok(Memory { size_bytes: 0, ..oldest }),
            None => Ok(self.live.add(base.memalloc(size_bytes)?)),
        }
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.live.remove(token);
        // Two requests share the block, and it may have been released before.
        base.release(token).or(Ok(()))
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }
}

/// Accepts a request of zero bytes only while another block is live.
#[derive(Default)]
struct ZeroSizeNeedsLiveBlock {
    live: LiveBlocks,
}

impl Mutation for ZeroSizeNeedsLiveBlock {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let alone = self.live.lock().iter().all(|memory| memory.size_bytes == 0);
        if size_bytes == 0 && alone {
            return Err(fail(Status::INVALID_VALUE, "memalloc: no bytes were asked for"));
        }
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }
}

/// Refuses requests of zero bytes after its first reset.
#[derive(Default)]
struct ZeroSizeFailsAfterReset {
    was_reset: Flag,
}

impl Mutation for ZeroSizeFailsAfterReset {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        if size_bytes == 0 && self.was_reset.is_set() {
            return Err(fail(Status::INVALID_VALUE, "memalloc: no bytes were asked for"));
        }
        base.memalloc(size_bytes)
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        self.was_reset.set();
        base.reset()
    }
}
