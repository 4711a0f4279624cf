//! Where the memory of a pool comes from.

use std::fmt::Debug;

use allocert_fit::Region;

/// A system allocator. The pool calls [`System::write_guard`] and [`System::guard_is_intact`] only
/// for addresses inside a chunk, behind a block that nobody else uses at that moment.
pub trait System: Send + Sync {
    /// What the system answers if it gives no memory.
    type Error: Copy + Debug + PartialEq;

    /// Every block's address and size is a multiple of this, a power of two from 64.
    const GRAIN_BYTES: u64;
    /// The size of each chunk is a multiple of this, and this one of the grain.
    const CHUNK_GRAIN_BYTES: u64;
    /// What a thread keeps at most.
    const CACHE_BYTES: u64;
    /// What a thread keeps at most of blocks of one size, but for a few long ones. If all sizes
    /// together may be much more than [`System::CACHE_BYTES`], fewer requests find a block.
    const CLASS_BYTES: u64;
    /// So many bytes behind each block are for the guard.
    const GUARD_BYTES: u64 = 0;
    /// Whether a child of `fork` has a copy of the memory.
    const SURVIVES_FORK: bool;

    /// A chunk of so many bytes, a multiple of [`System::CHUNK_GRAIN_BYTES`].
    ///
    /// # Errors
    /// What the system says.
    fn reserve(&self, size_bytes: u64) -> Result<u64, Self::Error>;

    /// Whether [`System::reserve`] may have memory for a shorter chunk, or later.
    fn is_out_of_memory(error: Self::Error) -> bool;

    /// Waits for all work that is queued on any stream and may use the memory.
    ///
    /// # Errors
    /// What the system says: then the memory stays with its streams.
    fn wait_for_work(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Takes a chunk back that [`System::reserve`] gave; whether it did. If the system refuses, the
    /// memory is gone already, and nothing is left to do.
    fn give_back(&self, chunk: Region) -> bool;

    /// Writes the guard of the block at `address`, whose caller may use the bytes before `end`.
    fn write_guard(&self, _address: u64, _end: u64) {}

    /// The guard behind `end` is read soon. What lies there is not known for sure: nothing may
    /// change, and nothing may fail.
    fn prefetch_guard(&self, _end: u64) {}

    /// Whether the guard still is what [`System::write_guard`] wrote.
    fn guard_is_intact(&self, _address: u64, _end: u64) -> bool {
        true
    }
}
