//! Mutations that answer every call in the same way.

use allocert_abi::emm::{IpcHandle, Memory, MemoryInfo, Status};
use allocert_abi::export_emm_plugin;
use allocert_abi::plugin::Failure;

use crate::emm::base_manager::{Answer, BaseManager, PinRequest, fail};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_does_nothing => Mutant<DoesNothing>,
    mutant_always_fails => Mutant<AlwaysFails>,
    mutant_always_out_of_memory => Mutant<AlwaysOutOfMemory>,
}

/// Defines a mutation by its answer to each kind of function.
macro_rules! constant_answer {
    (
        $(#[$about:meta])*
        $name:ident {
            nothing: $nothing:expr, memory: $memory:expr, info: $info:expr, handle: $handle:expr
        }
    ) => {
        $(#[$about])*
        #[derive(Default)]
        struct $name;

        impl Mutation for $name {
            fn initialize(&self, _: &BaseManager) -> Answer { $nothing }
            fn memalloc(&self, _: &BaseManager, _: u64) -> Answer<Memory> { $memory }
            fn memhostalloc(&self, _: &BaseManager, _: u64, _: u32) -> Answer<Memory> { $memory }
            fn mempin(&self, _: &BaseManager, _: PinRequest) -> Answer<Memory> { $memory }
            fn release(&self, _: &BaseManager, _: u64) -> Answer { $nothing }
            fn get_memory_info(&self, _: &BaseManager) -> Answer<MemoryInfo> { $info }
            fn get_ipc_handle(&self, _: &BaseManager, _: u64, _: u64) -> Answer<IpcHandle> {
                $handle
            }
            fn reset(&self, _: &BaseManager) -> Answer { $nothing }
            fn defer_begin(&self, _: &BaseManager) -> Answer { $nothing }
            fn defer_end(&self, _: &BaseManager) -> Answer { $nothing }
        }
    };
}

constant_answer! {
    /// Reports success for every call and does nothing.
    DoesNothing {
        nothing: Ok(()),
        memory: Ok(Memory::empty()),
        info: Ok(MemoryInfo::empty()),
        handle: Ok(IpcHandle::empty())
    }
}
constant_answer! {
    /// Fails at every call.
    AlwaysFails {
        nothing: Err(internal()),
        memory: Err(internal()),
        info: Err(internal()),
        handle: Err(internal())
    }
}
constant_answer! {
    /// Reports a lack of memory for every request.
    AlwaysOutOfMemory {
        nothing: Ok(()),
        memory: Err(out_of_memory()),
        info: Ok(MemoryInfo::empty()),
        handle: Err(out_of_memory())
    }
}

fn internal() -> Failure {
    fail(Status::INTERNAL, "not implemented")
}

fn out_of_memory() -> Failure {
    fail(Status::OUT_OF_MEMORY, "out of memory")
}
