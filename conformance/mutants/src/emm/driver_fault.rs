//! Mutations that only the fault sweep finds: they go wrong when a driver call fails that never
//! fails in the cases.

use allocert_abi::emm::{Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{
    Answer, BaseManager, driver_error, fail, failed_with, null_memory, release_unless_null,
};
use crate::emm::mutation::state::Flag;
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_not_initialized_returns_null => Mutant<NotInitializedReturnsNull>,
    mutant_leaks_staging_buffer => Mutant<LeaksStagingBuffer>,
    mutant_no_memory_after_failed_free => Mutant<NoMemoryAfterFailedFree>,
}

/// Returns address 0 and success when the driver reports that it is not initialized.
#[derive(Default)]
struct NotInitializedReturnsNull;

impl Mutation for NotInitializedReturnsNull {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        match base.memhostalloc(size_bytes, flags) {
            Err(failure) if failure.message.contains("CUDA_ERROR_NOT_INITIALIZED") => {
                Ok(null_memory(size_bytes))
            }
            answer => answer,
        }
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        release_unless_null(base, token)
    }
}

const STAGING_BYTES: u64 = 2 << 20;

/// Leaks its staging buffer when the second driver call of an operation fails.
#[derive(Default)]
struct LeaksStagingBuffer;

impl Mutation for LeaksStagingBuffer {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let driver = base.driver;
        let staging = driver.mem_alloc(STAGING_BYTES).map_err(driver_error)?;
        driver.mem_get_address_range(staging).map_err(driver_error)?;
        driver.mem_free(staging).map_err(driver_error)?;
        base.memhostalloc(size_bytes, flags)
    }
}

/// Refuses every request once the driver failed to free a block.
#[derive(Default)]
struct NoMemoryAfterFailedFree {
    failed: Flag,
}

impl Mutation for NoMemoryAfterFailedFree {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        if self.failed.is_set() {
            return Err(fail(Status::INTERNAL, "memalloc: the driver failed before"));
        }
        base.memalloc(size_bytes)
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let answer = base.release(token);
        if failed_with(&answer, Status::DRIVER_ERROR) {
            self.failed.set();
        }
        answer
    }
}
