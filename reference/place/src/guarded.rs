//! Memory that this process can read and write, with a guard behind each block.

use allocert_pool::{Region, System};

use crate::Error;
use crate::guard::{self, GUARD_BYTES};

/// A system allocator of such memory.
pub(crate) trait HostMemory: Send + Sync {
    /// Whether a child of `fork` has a copy of the memory.
    const SURVIVES_FORK: bool;

    /// A chunk of so many bytes, whole pages.
    fn reserve(&self, size_bytes: u64) -> Result<u64, Error>;

    /// Takes a chunk back that [`HostMemory::reserve`] gave; whether it did.
    fn give_back(&self, chunk: Region) -> bool;
}

/// Puts a guard behind each block of `M`.
#[derive(Debug)]
pub(crate) struct Guarded<M>(pub(crate) M);

impl<M: HostMemory> System for Guarded<M> {
    type Error = Error;

    const GRAIN_BYTES: u64 = 64;
    /// A page.
    const CHUNK_GRAIN_BYTES: u64 = 4096;
    const CACHE_BYTES: u64 = 64 << 20;
    const CLASS_BYTES: u64 = 4 << 20;
    const GUARD_BYTES: u64 = GUARD_BYTES;
    const SURVIVES_FORK: bool = M::SURVIVES_FORK;

    fn is_out_of_memory(error: Error) -> bool {
        error == Error::OutOfMemory
    }

    fn reserve(&self, size_bytes: u64) -> Result<u64, Error> {
        self.0.reserve(size_bytes)
    }

    fn give_back(&self, chunk: Region) -> bool {
        self.0.give_back(chunk)
    }

    #[inline]
    fn write_guard(&self, address: u64, end: u64) {
        // SAFETY: the pool calls this for a block with room for the guard, which nobody has.
        unsafe { guard::write(address, end) };
    }

    #[inline]
    fn prefetch_guard(&self, end: u64) {
        guard::prefetch(end);
    }

    #[inline]
    fn guard_is_intact(&self, address: u64, end: u64) -> bool {
        // SAFETY: the pool has taken the block from its caller, and wrote its guard before.
        unsafe { guard::is_intact(address, end) }
    }
}
