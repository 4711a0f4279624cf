//! Wrong manners towards the host's contexts.

use allocert_abi::emm::Memory;

use crate::base::{Answer, Base};
use crate::mutant::Mutation;

/// Leaves its context pushed.
#[derive(Default)]
pub(crate) struct ContextPushed;

impl Mutation for ContextPushed {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let _ = base.driver.ctx_push_current(base.context);
        base.memalloc(size_bytes)
    }
}

/// Leaves no context current.
#[derive(Default)]
pub(crate) struct ContextLost;

impl Mutation for ContextLost {
    fn release(&self, base: &Base, token: u64) -> Answer {
        let answer = base.release(token);
        let _ = base.driver.ctx_set_current(None);
        answer
    }
}

/// Gives back a context that it never retained.
#[derive(Default)]
pub(crate) struct ContextReleased;

impl Mutation for ContextReleased {
    fn reset(&self, base: &Base) -> Answer {
        let answer = base.reset();
        let _ = base.driver.primary_ctx_release(base.device);
        answer
    }
}

/// Leaves its context current where it was made.
#[derive(Default)]
pub(crate) struct ContextTaken;

impl Mutation for ContextTaken {
    fn create(&self, base: &Base) -> Answer {
        let _ = base.driver.ctx_set_current(Some(base.context));
        Ok(())
    }
}
