//! Mutations of tokens, which only the header knows.

use std::collections::HashSet;

use allocert_abi::emm::{IpcHandle, Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager, OWN_TOKEN, PinRequest, failed_with};
use crate::emm::mutation::state::{Locked, ScopeDepth};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_token_reused => Mutant<TokenReused>,
    mutant_token_zero => Mutant<TokenZero>,
    mutant_second_release_succeeds => Mutant<SecondReleaseSucceeds>,
    mutant_second_release_in_scope_succeeds => Mutant<SecondReleaseInScopeSucceeds>,
    mutant_unknown_token_succeeds => Mutant<UnknownTokenSucceeds>,
    mutant_pinned_has_device_pointer => Mutant<PinnedHasDevicePointer>,
    mutant_reserved_member_used => Mutant<ReservedMemberUsed>,
}

/// Gives the token of a released block to the next block.
#[derive(Default)]
struct TokenReused {
    /// The base manager's tokens; a released one leaves a slot for the next.
    slots: Locked<Vec<Option<u64>>>,
}

impl TokenReused {
    fn index(token: u64) -> usize {
        (token & !OWN_TOKEN).wrapping_sub(1) as usize
    }
}

impl Mutation for TokenReused {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        let mut slots = self.slots.lock();
        let index = slots.iter().position(Option::is_none).unwrap_or(slots.len());
        match slots.get_mut(index) {
            Some(free) => *free = Some(memory.token),
            None => slots.push(Some(memory.token)),
        }
        Ok(Memory { token: OWN_TOKEN | (index as u64 + 1), ..memory })
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if token & OWN_TOKEN == 0 {
            return base.release(token);
        }
        let taken = self.slots.lock().get_mut(Self::index(token)).and_then(Option::take);
        base.release(taken.unwrap_or(0))
    }

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        let slot = self.slots.lock().get(Self::index(token)).copied().flatten();
        let known = slot.filter(|_| token & OWN_TOKEN != 0);
        base.get_ipc_handle(known.unwrap_or(token), offset_bytes)
    }
}

/// Gives token 0 to its first block.
#[derive(Default)]
struct TokenZero {
    /// The base manager's token of the first block.
    first: Locked<Option<u64>>,
}

impl Mutation for TokenZero {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        let mut first = self.first.lock();
        if first.is_some() {
            return Ok(memory);
        }
        *first = Some(memory.token);
        Ok(Memory { token: 0, ..memory })
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let first = self.first.lock().filter(|_| token == 0);
        base.release(first.unwrap_or(token))
    }

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        let first = self.first.lock().filter(|_| token == 0);
        base.get_ipc_handle(first.unwrap_or(token), offset_bytes)
    }
}

/// Accepts the same token in release any number of times.
#[derive(Default)]
struct SecondReleaseSucceeds {
    released: Locked<HashSet<u64>>,
}

impl Mutation for SecondReleaseSucceeds {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let answer = base.release(token);
        let first = self.released.lock().insert(token);
        if failed_with(&answer, Status::INVALID_VALUE) && !first { Ok(()) } else { answer }
    }
}

/// Accepts the same token again in release as long as a scope keeps its block.
#[derive(Default)]
struct SecondReleaseInScopeSucceeds {
    depth: ScopeDepth,
    waiting: Locked<HashSet<u64>>,
}

impl Mutation for SecondReleaseInScopeSucceeds {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if self.depth.get() > 0 && !self.waiting.lock().insert(token) {
            return Ok(());
        }
        base.release(token)
    }

    fn depth(&self) -> Option<&ScopeDepth> {
        Some(&self.depth)
    }

    fn defer_end(&self, base: &BaseManager) -> Answer {
        self.depth.end();
        self.waiting.lock().clear();
        base.defer_end()
    }
}

/// Accepts a token in release that it never gave out.
#[derive(Default)]
struct UnknownTokenSucceeds {
    returned: Locked<HashSet<u64>>,
}

impl UnknownTokenSucceeds {
    fn record(&self, memory: Memory) -> Memory {
        self.returned.lock().insert(memory.token);
        memory
    }
}

impl Mutation for UnknownTokenSucceeds {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        base.memalloc(size_bytes).map(|memory| self.record(memory))
    }

    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags).map(|memory| self.record(memory))
    }

    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        base.mempin(request).map(|memory| self.record(memory))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let answer = base.release(token);
        let unknown = !self.returned.lock().contains(&token);
        if failed_with(&answer, Status::INVALID_VALUE) && unknown { Ok(()) } else { answer }
    }
}

/// Returns a device address for memory that is not mapped.
#[derive(Default)]
struct PinnedHasDevicePointer;

impl Mutation for PinnedHasDevicePointer {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let memory = base.memhostalloc(size_bytes, flags)?;
        Ok(Memory { device_pointer: memory.host_pointer.addr() as u64, ..memory })
    }
}

/// Writes to the reserved member of the result structure.
#[derive(Default)]
struct ReservedMemberUsed;

impl Mutation for ReservedMemberUsed {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { reserved: size_bytes as u32 | 1, ..base.memalloc(size_bytes)? })
    }
}
