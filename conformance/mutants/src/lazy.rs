//! Subjects that break everything in the cheapest ways.

use std::ffi::c_void;
use std::ptr::NonNull;

use allocert_abi::emm::{IpcHandle, Memory, MemoryInfo, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::Mutation;

/// A mutation that answers every call alike.
macro_rules! answers {
    ($(#[$about:meta])* $name:ident, $unit:expr, $memory:expr, $info:expr, $handle:expr) => {
        $(#[$about])*
        #[derive(Default)]
        pub(crate) struct $name;

        impl Mutation for $name {
            fn initialize(&self, _: &Base) -> Answer { $unit }
            fn memalloc(&self, _: &Base, _: u64) -> Answer<Memory> { $memory }
            fn memhostalloc(&self, _: &Base, _: u64, _: u32) -> Answer<Memory> { $memory }
            fn mempin(&self, _: &Base, _: NonNull<c_void>, _: u64, _: u32) -> Answer<Memory> { $memory }
            fn release(&self, _: &Base, _: u64) -> Answer { $unit }
            fn get_memory_info(&self, _: &Base) -> Answer<MemoryInfo> { $info }
            fn get_ipc_handle(&self, _: &Base, _: u64, _: u64) -> Answer<IpcHandle> { $handle }
            fn reset(&self, _: &Base) -> Answer { $unit }
            fn defer_begin(&self, _: &Base) -> Answer { $unit }
            fn defer_end(&self, _: &Base) -> Answer { $unit }
        }
    };
}

answers! {
    /// Succeeds in everything and does nothing.
    DoesNothing, Ok(()), Ok(Memory::empty()), Ok(MemoryInfo::empty()), Ok(IpcHandle::empty())
}
answers! {
    /// Fails in everything.
    AlwaysFails, Err(internal()), Err(internal()), Err(internal()), Err(internal())
}
answers! {
    /// Has memory for nothing.
    AlwaysOutOfMemory, Ok(()), Err(out_of_memory()), Ok(MemoryInfo::empty()), Err(out_of_memory())
}

fn internal() -> allocert_abi::plugin::Failure {
    fail(Status::INTERNAL, "not implemented")
}

fn out_of_memory() -> allocert_abi::plugin::Failure {
    fail(Status::OUT_OF_MEMORY, "out of memory")
}
