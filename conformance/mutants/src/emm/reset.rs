//! Mutations of `reset`.

use allocert_abi::emm::{Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager, PinRequest, fail};
use crate::emm::mutation::second_manager::SecondManager;
use crate::emm::mutation::state::{Count, Flag, LiveBlocks, Locked};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_reset_leaks => Mutant<ResetLeaks>,
    mutant_reset_fails => Mutant<ResetFails>,
    mutant_reset_needs_initialize => Mutant<ResetNeedsInitialize>,
    mutant_reset_once => Mutant<ResetOnce>,
    mutant_reset_needs_context => Mutant<ResetNeedsContext>,
    mutant_no_memory_after_reset => Mutant<NoMemoryAfterReset>,
    mutant_no_initialize_after_reset => Mutant<NoInitializeAfterReset>,
    mutant_reset_keeps_host_memory => Mutant<ResetKeepsHostMemory>,
    mutant_reset_keeps_pending_releases => Mutant<ResetKeepsPendingReleases>,
    mutant_reset_frees_all_managers => Mutant<ResetFreesAllManagers>,
    mutant_reset_keeps_pins => Mutant<ResetKeepsPins>,
}

/// Forgets all memory at reset and frees nothing, not even when it is destroyed.
#[derive(Default)]
struct ResetLeaks {
    live: LiveBlocks,
    /// The tokens that were live at a reset.
    forgotten: Locked<Vec<u64>>,
}

impl Mutation for ResetLeaks {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.live.add(base.memhostalloc(size_bytes, flags)?))
    }

    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        Ok(self.live.add(base.mempin(request)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.live.remove(token);
        if self.forgotten.lock().contains(&token) { Ok(()) } else { base.release(token) }
    }

    fn reset(&self, _base: &BaseManager) -> Answer {
        let live = self.live.take();
        self.forgotten.lock().extend(live.into_iter().map(|memory| memory.token));
        Ok(())
    }

    fn destroy(&self, base: BaseManager) {
        std::mem::forget(base);
    }
}

/// Resets and then reports a failure.
#[derive(Default)]
struct ResetFails;

impl Mutation for ResetFails {
    fn reset(&self, base: &BaseManager) -> Answer {
        base.reset()?;
        Err(fail(Status::INTERNAL, "reset: not implemented"))
    }
}

/// Refuses a reset before initialize.
#[derive(Default)]
struct ResetNeedsInitialize {
    initialized: Flag,
}

impl Mutation for ResetNeedsInitialize {
    fn initialize(&self, base: &BaseManager) -> Answer {
        self.initialized.set();
        base.initialize()
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        match self.initialized.is_set() {
            true => base.reset(),
            false => Err(fail(Status::STATE, "reset: not initialized")),
        }
    }
}

/// Refuses a second reset.
#[derive(Default)]
struct ResetOnce {
    count: Count,
}

impl Mutation for ResetOnce {
    fn reset(&self, base: &BaseManager) -> Answer {
        match self.count.increment() {
            0 => base.reset(),
            _ => Err(fail(Status::STATE, "reset: was reset before")),
        }
    }
}

/// Refuses a reset while no context is current.
#[derive(Default)]
struct ResetNeedsContext;

impl Mutation for ResetNeedsContext {
    fn reset(&self, base: &BaseManager) -> Answer {
        match base.has_context() {
            true => base.reset(),
            false => Err(fail(Status::DRIVER_ERROR, "reset: no context is current")),
        }
    }
}

/// Refuses every request after a reset.
#[derive(Default)]
struct NoMemoryAfterReset {
    was_reset: Flag,
}

impl Mutation for NoMemoryAfterReset {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        match self.was_reset.is_set() {
            true => Err(fail(Status::STATE, "memalloc: was reset")),
            false => base.memalloc(size_bytes),
        }
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        self.was_reset.set();
        base.reset()
    }
}

/// Refuses initialize after a reset.
#[derive(Default)]
struct NoInitializeAfterReset {
    was_reset: Flag,
}

impl Mutation for NoInitializeAfterReset {
    fn initialize(&self, base: &BaseManager) -> Answer {
        match self.was_reset.is_set() {
            true => Err(fail(Status::STATE, "initialize: was reset")),
            false => base.initialize(),
        }
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        self.was_reset.set();
        base.reset()
    }
}

/// Frees no host memory at reset, as an override without the call of its base class does.
#[derive(Default)]
struct ResetKeepsHostMemory {
    /// Owns the host memory and the pinned regions, and is not reset.
    host: SecondManager,
}

impl Mutation for ResetKeepsHostMemory {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let memory = self.host.get_or_open(base)?.memhostalloc(size_bytes, flags)?;
        Ok(SecondManager::own(memory))
    }

    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let memory = self.host.get_or_open(base)?.mempin(request)?;
        Ok(SecondManager::own(memory))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.host.release(base, token)
    }

    fn defer_begin(&self, base: &BaseManager) -> Answer {
        self.host.get_or_open(base)?.defer_begin()?;
        base.defer_begin()
    }

    fn defer_end(&self, base: &BaseManager) -> Answer {
        self.host.get_or_open(base)?.defer_end()?;
        base.defer_end()
    }
}

/// Frees the live blocks at reset, but not the released ones that still wait to be freed.
#[derive(Default)]
struct ResetKeepsPendingReleases {
    live: LiveBlocks,
    pins: Locked<Vec<u64>>,
}

impl Mutation for ResetKeepsPendingReleases {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.live.add(base.memhostalloc(size_bytes, flags)?))
    }

    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let memory = base.mempin(request)?;
        self.pins.lock().push(memory.token);
        Ok(memory)
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.live.remove(token);
        if self.pins.lock().contains(&token) { base.release(token) } else { Ok(()) }
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        let live = self.live.take();
        let pins = std::mem::take(&mut *self.pins.lock());
        for token in live.iter().map(|memory| memory.token).chain(pins) {
            // A pin may have been released before.
            let _ = base.release(token);
        }
        Ok(())
    }

    fn destroy(&self, base: BaseManager) {
        std::mem::forget(base);
    }
}

/// The live device memory of all managers of the process.
static LIVE_OF_ALL_MANAGERS: LiveBlocks = LiveBlocks::new();

/// Frees the memory of all managers when one of them is reset.
#[derive(Default)]
struct ResetFreesAllManagers;

impl Mutation for ResetFreesAllManagers {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(LIVE_OF_ALL_MANAGERS.add(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        LIVE_OF_ALL_MANAGERS.remove(token);
        base.release(token)
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        base.reset()?;
        for memory in LIVE_OF_ALL_MANAGERS.take() {
            let _ = base.driver.mem_free(memory.device_pointer);
        }
        Ok(())
    }
}

/// Leaves regions pinned at reset.
#[derive(Default)]
struct ResetKeepsPins {
    /// Owns the pinned regions, and is not reset.
    pins: SecondManager,
}

impl Mutation for ResetKeepsPins {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        Ok(SecondManager::own(self.pins.get_or_open(base)?.mempin(request)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.pins.release(base, token)
    }
}
