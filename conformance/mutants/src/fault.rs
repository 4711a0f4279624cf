//! Wrong answers to a driver call that fails where it hardly ever does: the suite's cases do not
//! make it, the fault sweep does.

use allocert_abi::emm::{Memory, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Flag, Mutation};

/// The token of memory that is none.
const NOTHING: u64 = u64::MAX;

/// Takes a driver that is not initialized for one that is shutting down, where nobody would use the
/// memory any more.
#[derive(Default)]
pub(crate) struct ShutdownIsNull;

impl Mutation for ShutdownIsNull {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        match base.memhostalloc(size_bytes, flags) {
            Err(failure) if failure.message.contains("CUDA_ERROR_NOT_INITIALIZED") => {
                Ok(Memory { size_bytes, token: NOTHING, ..Memory::empty() })
            }
            answer => answer,
        }
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        if token == NOTHING { Ok(()) } else { base.release(token) }
    }
}

const SLAB_BYTES: u64 = 2 << 20;

/// Tries a staging slab before it gives host memory, and forgets it when the trial fails.
#[derive(Default)]
pub(crate) struct StagesAndLeaks;

impl Mutation for StagesAndLeaks {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let driver = base.driver;
        let slab = driver.mem_alloc(SLAB_BYTES).map_err(refused)?;
        driver.mem_get_address_range(slab).map_err(refused)?;
        driver.mem_free(slab).map_err(refused)?;
        base.memhostalloc(size_bytes, flags)
    }
}

fn refused(error: impl ToString) -> allocert_abi::plugin::Failure {
    fail(Status::DRIVER_ERROR, error.to_string())
}

/// Serves no more once the driver refused to take a block back.
#[derive(Default)]
pub(crate) struct Sulks {
    over: Flag,
}

impl Mutation for Sulks {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        if self.over.is_up() {
            return Err(fail(Status::INTERNAL, "memalloc: the driver failed before"));
        }
        base.memalloc(size_bytes)
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        let answer = base.release(token);
        if answer.as_ref().is_err_and(|failure| failure.status == Status::DRIVER_ERROR) {
            self.over.raise();
        }
        answer
    }
}
