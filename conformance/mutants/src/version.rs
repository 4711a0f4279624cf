//! Wrong tables, and wrong beginnings of a manager.

use allocert_abi::emm::{Plugin, Status};
use allocert_abi::table;

use crate::base::{Answer, Base, fail};
use crate::mutant::{Mutant, Mutation};

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

/// Speaks version 2.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mutant_version_two() -> *const Plugin {
    static TABLE: Plugin = Plugin { interface_version: 2, ..table::<Mutant<Faithful>>() };
    &raw const TABLE
}

/// Ends before `reset`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mutant_truncated_table() -> *const Plugin {
    static TABLE: Plugin = Plugin { size: std::mem::offset_of!(Plugin, reset), ..table::<Mutant<Faithful>>() };
    &raw const TABLE
}

/// Left `release` out.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mutant_null_member() -> *const Plugin {
    static TABLE: Plugin = Plugin { release: None, ..table::<Mutant<Faithful>>() };
    &raw const TABLE
}
