/// Why a call did not do its work. Then nothing has changed. `E` is an error of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error<E> {
    /// The system has not so much memory, also after all idle memory was given back, and says so.
    /// `None`: the system was not asked. The pool may not become so large, or nothing can.
    OutOfMemory(Option<E>),
    /// The address of a block that was freed already.
    FreedBefore(u64),
    /// An address at which no block of the pool begins.
    NoBlock(u64),
    /// Somebody wrote behind the block. It stays taken.
    Corrupted { address: u64, size_bytes: u64 },
    /// This is a child of `fork`, and the memory stayed in the parent.
    Forked,
    /// The system failed otherwise.
    System(E),
}
