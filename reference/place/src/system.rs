//! Where the memory of a pool comes from.

use std::fmt::Debug;

use allocert_fit::Region;

use crate::Error;

/// The system allocator of a place.
pub(crate) trait System: Debug + Send + Sync {
    /// Every block's address and size is a multiple of this.
    const GRAIN_BYTES: u64;
    /// Whether this process can read and write the memory.
    const IS_HOST_MEMORY: bool;
    /// Whether a child of `fork` has a copy of the memory.
    const SURVIVES_FORK: bool;

    /// A chunk of so many bytes, a multiple of 4096.
    fn reserve(&self, size_bytes: u64) -> Result<u64, Error>;

    /// Waits for all work that is queued on any stream and may use the memory.
    fn wait_for_work(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Takes a chunk back that [`System::reserve`] gave. If the system refuses, the memory is gone
    /// already, and nothing is left to do.
    fn give_back(&self, chunk: Region);
}
