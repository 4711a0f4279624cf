//! What a call of the CUDA driver does. CUDA Driver API reference.
//!
//! - `memory`: takes, gives back and touches memory
//! - `contexts`: begins, ends and switches contexts
//! - `order`: queues work, records events and waits
//! - `faults`: what the fault sweep must know of a function

mod contexts;
mod faults;
mod memory;
mod order;

pub(crate) use contexts::{ContextEffect, PrimaryContexts, finds_no_context};
pub(crate) use faults::{is_lookup, may_run_out_of_memory, restores_context};
pub(crate) use memory::{
    BEGIN_OF_RUNTIME, free_answer, gives_back_unseen, is_needed_for_memory, manages_unseen_memory,
    memory_class, memory_effect, reached_after_free,
};
pub(crate) use order::{
    HostWait, MemoryClass, OrderEffect, PassedOnEffect, Work, breaks_context, has_order_of_its_own,
};
