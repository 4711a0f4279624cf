//! Wrong beginnings of a manager.

use allocert_abi::emm::Status;

use crate::base::{Answer, Base, fail};
use crate::mutant::Mutation;

/// Breaks nothing.
#[derive(Default)]
pub(crate) struct Faithful;

impl Mutation for Faithful {}

/// Makes no manager.
#[derive(Default)]
pub(crate) struct CreateFails;

impl Mutation for CreateFails {
    fn create(&self, _base: &Base) -> Answer {
        Err(fail(Status::INTERNAL, "create: not implemented"))
    }
}

/// Takes a reserve when a manager is made.
#[derive(Default)]
pub(crate) struct CreateAllocates;

impl Mutation for CreateAllocates {
    fn create(&self, base: &Base) -> Answer {
        let _ = base.driver.ctx_push_current(base.context);
        let reserve = base.driver.mem_alloc(1 << 20);
        let _ = base.driver.ctx_pop_current();
        if let Ok(reserve) = reserve {
            let _ = base.driver.mem_free(reserve);
        }
        Ok(())
    }
}
