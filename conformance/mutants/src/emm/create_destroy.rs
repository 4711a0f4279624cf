//! Mutations of `create` and `destroy`, and the manager without a mutation.

use allocert_abi::emm::Status;
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseKind, BaseManager, fail};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_conforming => Mutant<Conforming>,
    mutant_create_fails => Mutant<CreateFails>,
    mutant_create_allocates => Mutant<CreateAllocates>,
    mutant_destroy_frees_nothing => Mutant<DestroyFreesNothing>,
}

/// Breaks nothing. Tests check that the suite finds nothing in the base of all mutants.
#[derive(Default)]
pub(crate) struct Conforming;

impl Mutation for Conforming {}

/// Creates no manager.
#[derive(Default)]
struct CreateFails;

impl Mutation for CreateFails {
    fn create(&self, _base: &BaseManager) -> Answer {
        Err(fail(Status::INTERNAL, "create: not implemented"))
    }
}

/// Allocates and frees 1 MiB when a manager is created.
#[derive(Default)]
struct CreateAllocates;

impl Mutation for CreateAllocates {
    fn create(&self, base: &BaseManager) -> Answer {
        let _ = base.driver.ctx_push_current(base.context);
        let block = base.driver.mem_alloc(1 << 20);
        let _ = base.driver.ctx_pop_current();
        if let Ok(block) = block {
            let _ = base.driver.mem_free(block);
        }
        Ok(())
    }
}

/// Frees nothing when it is destroyed.
#[derive(Default)]
struct DestroyFreesNothing;

impl Mutation for DestroyFreesNothing {
    const KIND: BaseKind = BaseKind::Pool;

    fn destroy(&self, base: BaseManager) {
        std::mem::forget(base);
    }
}
