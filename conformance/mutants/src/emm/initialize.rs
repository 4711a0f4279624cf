//! Mutations of `initialize`.

use allocert_abi::emm::{Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager, fail};
use crate::emm::mutation::state::{Count, LiveBlocks};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_initialize_fails => Mutant<InitializeFails>,
    mutant_initialize_frees_live_memory => Mutant<InitializeFreesLiveMemory>,
    mutant_initialize_reuses_live_memory => Mutant<InitializeReusesLiveMemory>,
    mutant_initialize_allocates => Mutant<InitializeAllocates>,
}

/// Fails at every initialize.
#[derive(Default)]
struct InitializeFails;

impl Mutation for InitializeFails {
    fn initialize(&self, _base: &BaseManager) -> Answer {
        Err(fail(Status::INTERNAL, "initialize: not implemented"))
    }
}

/// Frees all live memory at every initialize but the first.
#[derive(Default)]
struct InitializeFreesLiveMemory {
    count: Count,
}

impl Mutation for InitializeFreesLiveMemory {
    fn initialize(&self, base: &BaseManager) -> Answer {
        if self.count.increment() > 0 {
            base.reset()?;
        }
        base.initialize()
    }
}

/// Returns live memory again after a second initialize.
#[derive(Default)]
struct InitializeReusesLiveMemory {
    count: Count,
    live: LiveBlocks,
}

impl Mutation for InitializeReusesLiveMemory {
    fn initialize(&self, base: &BaseManager) -> Answer {
        self.count.increment();
        base.initialize()
    }

    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let mut memory = base.memalloc(size_bytes)?;
        if self.count.get() > 1
            && let Some(oldest) = self.live.oldest()
        {
            memory.device_pointer = oldest.device_pointer;
        }
        Ok(self.live.add(memory))
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }
}

/// Allocates and frees 1 MiB at every initialize.
#[derive(Default)]
struct InitializeAllocates;

impl Mutation for InitializeAllocates {
    fn initialize(&self, base: &BaseManager) -> Answer {
        base.allocate_and_free();
        base.initialize()
    }
}
