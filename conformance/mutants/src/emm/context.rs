//! Mutations that change the caller's current context or a primary context's reference count.

use allocert_abi::emm::Memory;
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_memalloc_pushes_context => Mutant<MemallocPushesContext>,
    mutant_release_clears_context => Mutant<ReleaseClearsContext>,
    mutant_reset_releases_context => Mutant<ResetReleasesContext>,
    mutant_create_changes_context => Mutant<CreateChangesContext>,
}

/// Leaves its context pushed after an allocation.
#[derive(Default)]
struct MemallocPushesContext;

impl Mutation for MemallocPushesContext {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let _ = base.driver.ctx_push_current(base.context);
        base.memalloc(size_bytes)
    }
}

/// Leaves no context current after a release.
#[derive(Default)]
struct ReleaseClearsContext;

impl Mutation for ReleaseClearsContext {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let answer = base.release(token);
        let _ = base.driver.ctx_set_current(None);
        answer
    }
}

/// Releases a primary context at reset that it never retained.
#[derive(Default)]
struct ResetReleasesContext;

impl Mutation for ResetReleasesContext {
    fn reset(&self, base: &BaseManager) -> Answer {
        let answer = base.reset();
        let _ = base.driver.primary_ctx_release(base.device);
        answer
    }
}

/// Leaves its context current when a manager is created.
#[derive(Default)]
struct CreateChangesContext;

impl Mutation for CreateChangesContext {
    fn create(&self, base: &BaseManager) -> Answer {
        let _ = base.driver.ctx_set_current(Some(base.context));
        Ok(())
    }
}
