use allocert_cuda::DriverError;

use crate::Place;

/// Why a call did not do its work. Then nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The place has not so much memory, or the pool may not become so large.
    #[error(
        "out of memory, also after all idle memory was given back; free blocks, or ask for less"
    )]
    OutOfMemory,
    /// The address of a block that was freed already.
    #[error("{0:#x} was freed before; the caller frees it twice")]
    FreedBefore(u64),
    /// An address at which no block of the place begins.
    #[error(
        "no block of this place begins at {0:#x}; the caller passes an address inside a block, of \
         another place or of another allocator, or frees it twice"
    )]
    NoBlock(u64),
    /// Somebody wrote behind the block. It stays taken.
    #[error(
        "somebody wrote behind the {size_bytes} bytes of the block at {address:#x}; it stays taken"
    )]
    Corrupted { address: u64, size_bytes: u64 },
    /// There is no such place.
    #[error("there is no {0} here")]
    NoPlace(Place),
    /// The driver refused, or there is none.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// This is a child of `fork`, and the driver works only in the parent.
    #[error("this process was forked after CUDA was used; the memory of CUDA stayed in the parent")]
    Forked,
}

/// Of the pool of a place.
impl From<allocert_pool::Error<Self>> for Error {
    fn from(error: allocert_pool::Error<Self>) -> Self {
        use allocert_pool::Error as OfPool;
        match error {
            OfPool::OutOfMemory(_) => Self::OutOfMemory,
            OfPool::FreedBefore(address) => Self::FreedBefore(address),
            OfPool::NoBlock(address) => Self::NoBlock(address),
            OfPool::Corrupted { address, size_bytes } => Self::Corrupted { address, size_bytes },
            OfPool::Forked => Self::Forked,
            OfPool::System(error) => error,
        }
    }
}
