//! Wrong beginnings.

use allocert_abi::emm::{Memory, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Count, Live, Mutation};

/// Fails always.
#[derive(Default)]
pub(crate) struct InitializeFails;

impl Mutation for InitializeFails {
    fn initialize(&self, _base: &Base) -> Answer {
        Err(fail(Status::INTERNAL, "initialize: not implemented"))
    }
}

/// Begins anew each time: frees what is live.
#[derive(Default)]
pub(crate) struct InitializeResets {
    count: Count,
}

impl Mutation for InitializeResets {
    fn initialize(&self, base: &Base) -> Answer {
        if self.count.next() > 0 {
            base.reset()?;
        }
        base.initialize()
    }
}

/// Begins anew each time: gives out live memory again.
#[derive(Default)]
pub(crate) struct InitializeForgets {
    count: Count,
    live: Live,
}

impl Mutation for InitializeForgets {
    fn initialize(&self, base: &Base) -> Answer {
        self.count.next();
        base.initialize()
    }

    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let mut memory = base.memalloc(size_bytes)?;
        if self.count.get() > 1
            && let Some(oldest) = self.live.oldest()
        {
            memory.device_pointer = oldest.device_pointer;
        }
        Ok(self.live.enter(memory))
    }

    fn live(&self) -> Option<&Live> {
        Some(&self.live)
    }
}

/// Takes and gives back a reserve each time.
#[derive(Default)]
pub(crate) struct InitializeIsCostly;

impl Mutation for InitializeIsCostly {
    fn initialize(&self, base: &Base) -> Answer {
        if let Ok(reserve) = base.driver.mem_alloc(1 << 20) {
            let _ = base.driver.mem_free(reserve);
        }
        base.initialize()
    }
}
