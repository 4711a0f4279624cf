//! Mutations of `release`.

use allocert_abi::emm::{KIND_DEVICE, Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseKind, BaseManager, fail};
use crate::emm::mutation::state::{Count, FirstThread, LiveBlocks};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_leaks_on_release => Mutant<LeaksOnRelease>,
    mutant_never_releases => Mutant<NeverReleases>,
    mutant_ignores_every_1000th_release => Mutant<IgnoresEvery1000thRelease>,
    mutant_ignores_release_on_other_threads => Mutant<IgnoresReleaseOnOtherThreads>,
    mutant_frees_twice => Mutant<FreesTwice>,
    mutant_frees_interior_address => Mutant<FreesInteriorAddress>,
    mutant_frees_another_block => Mutant<FreesAnotherBlock>,
    mutant_returns_freed_memory => Mutant<ReturnsFreedMemory>,
    mutant_releases_newest_only => Mutant<ReleasesNewestOnly>,
    mutant_release_on_creating_thread_only => Mutant<ReleaseOnCreatingThreadOnly>,
    mutant_release_needs_context => Mutant<ReleaseNeedsContext>,
    mutant_release_retains_context => Mutant<ReleaseRetainsContext>,
    mutant_release_by_address => Mutant<ReleaseByAddress>,
    mutant_stale_token_frees_address => Mutant<StaleTokenFreesAddress>,
    mutant_stale_token_fails => Mutant<StaleTokenFails>,
}

/// Allocates a block at each release and never frees it.
#[derive(Default)]
struct LeaksOnRelease;

impl Mutation for LeaksOnRelease {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let _ = base.driver.mem_alloc(256);
        base.release(token)
    }
}

/// Frees nothing before reset.
#[derive(Default)]
struct NeverReleases;

impl Mutation for NeverReleases {
    fn release(&self, _base: &BaseManager, _token: u64) -> Answer {
        Ok(())
    }
}

/// Ignores every 1000th release until reset.
#[derive(Default)]
struct IgnoresEvery1000thRelease {
    count: Count,
}

impl Mutation for IgnoresEvery1000thRelease {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if self.count.increment() % 1000 == 999 { Ok(()) } else { base.release(token) }
    }
}

/// Ignores a release on any thread but the first one that called `initialize`, until reset.
#[derive(Default)]
struct IgnoresReleaseOnOtherThreads {
    first: FirstThread,
}

impl Mutation for IgnoresReleaseOnOtherThreads {
    fn initialize(&self, base: &BaseManager) -> Answer {
        self.first.record();
        base.initialize()
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if self.first.is_current() { base.release(token) } else { Ok(()) }
    }
}

/// Frees each block twice.
#[derive(Default)]
struct FreesTwice {
    live: LiveBlocks,
}

impl Mutation for FreesTwice {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        base.release(token)?;
        if let Some(memory) = self.live.remove(token) {
            let _ = base.driver.mem_free(memory.device_pointer);
        }
        Ok(())
    }
}

/// Frees an address inside a block.
#[derive(Default)]
struct FreesInteriorAddress {
    live: LiveBlocks,
}

impl Mutation for FreesInteriorAddress {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if let Some(memory) = self.live.remove(token) {
            let _ = base.driver.mem_free(memory.device_pointer + 16);
        }
        base.release(token)
    }
}

/// Frees another live block together with the released one.
#[derive(Default)]
struct FreesAnotherBlock {
    live: LiveBlocks,
}

impl Mutation for FreesAnotherBlock {
    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }

    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.live.remove(token);
        if let Some(other) = self.live.oldest() {
            self.live.remove(other.token);
            base.release(other.token)?;
        }
        match base.release(token) {
            // Released before, together with another block.
            Err(failure) if failure.status == Status::INVALID_VALUE => Ok(()),
            answer => answer,
        }
    }
}

/// Frees each block before it returns it.
#[derive(Default)]
struct ReturnsFreedMemory;

impl Mutation for ReturnsFreedMemory {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        base.release(memory.token)?;
        Ok(memory)
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        base.release(token).or(Ok(()))
    }
}

/// Refuses to release any block but the newest.
#[derive(Default)]
struct ReleasesNewestOnly {
    live: LiveBlocks,
}

impl Mutation for ReleasesNewestOnly {
    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }

    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let newest = self.live.lock().last().is_some_and(|last| last.token == token);
        if self.live.contains(token) && !newest {
            return Err(fail(Status::STATE, "release: not the newest block"));
        }
        self.live.remove(token);
        base.release(token)
    }
}

/// Refuses a release on any thread but the one that created the manager.
#[derive(Default)]
struct ReleaseOnCreatingThreadOnly {
    creator: FirstThread,
}

impl Mutation for ReleaseOnCreatingThreadOnly {
    fn create(&self, _base: &BaseManager) -> Answer {
        self.creator.record();
        Ok(())
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        match self.creator.is_current() {
            true => base.release(token),
            false => Err(fail(Status::STATE, "release: called on a foreign thread")),
        }
    }
}

/// Refuses a release while no context is current.
#[derive(Default)]
struct ReleaseNeedsContext;

impl Mutation for ReleaseNeedsContext {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        match base.has_context() {
            true => base.release(token),
            false => Err(fail(Status::DRIVER_ERROR, "release: no context is current")),
        }
    }
}

/// Retains the primary context at each release and never releases it.
#[derive(Default)]
struct ReleaseRetainsContext;

impl Mutation for ReleaseRetainsContext {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let _ = base.driver.primary_ctx_retain(base.device);
        base.release(token)
    }
}

/// Looks blocks up by address, so that a token from before a reset frees the block that has the
/// address now.
#[derive(Default)]
struct ReleaseByAddress {
    /// All blocks that were not released, including those from before a reset.
    returned: LiveBlocks,
}

impl Mutation for ReleaseByAddress {
    const KIND: BaseKind = BaseKind::Pool;

    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.returned.add(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let Some(memory) = self.returned.remove(token) else { return base.release(token) };
        let newest_at_address = self
            .returned
            .lock()
            .iter()
            .rev()
            .find(|other| other.device_pointer == memory.device_pointer)
            .copied();
        match newest_at_address {
            Some(other) => base.release(other.token).or(Ok(())),
            None => base.release(token),
        }
    }
}

/// Frees the address of a token from before a reset.
#[derive(Default)]
struct StaleTokenFreesAddress {
    live: LiveBlocks,
    stale: LiveBlocks,
}

impl Mutation for StaleTokenFreesAddress {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if let Some(stale) = self.stale.remove(token) {
            let _ = base.driver.mem_free(stale.device_pointer);
            return Ok(());
        }
        self.live.remove(token);
        base.release(token)
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        let live = self.live.take().into_iter();
        self.stale.lock().extend(live.filter(|memory| memory.kind == KIND_DEVICE));
        base.reset()
    }
}

/// Refuses to release a token from before a reset.
#[derive(Default)]
struct StaleTokenFails {
    live: LiveBlocks,
}

impl Mutation for StaleTokenFails {
    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }

    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        match self.live.remove(token) {
            Some(_) => base.release(token),
            None => Err(fail(Status::INVALID_VALUE, format!("release: KeyError: {token}"))),
        }
    }
}
