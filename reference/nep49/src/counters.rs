//! What the handler gave and got back. Each thread counts for itself, so that counting needs no
//! lock and no atomic addition; readers add the counts up.

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// So many threads count for themselves at a time. Others share one set of counters.
const THREADS: usize = 64;

/// What the handler did since the process began.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Blocks given.
    pub taken_blocks: u64,
    /// Blocks got back.
    pub given_blocks: u64,
    /// Bytes of the blocks given, as asked for; a block that is resized counts again with its new
    /// size.
    pub taken_bytes: u64,
    /// Bytes of the blocks got back.
    pub given_bytes: u64,
    /// Calls with memory that the handler did not give, or had got back before.
    pub refused_calls: u64,
}

impl Statistics {
    /// Blocks alive, exact while no other thread is inside the handler.
    #[must_use]
    pub fn live_blocks(&self) -> u64 {
        self.taken_blocks.saturating_sub(self.given_blocks)
    }

    /// Bytes of the blocks alive, as asked for.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.taken_bytes.saturating_sub(self.given_bytes)
    }
}

/// The counters of one thread, in a cache line of their own.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Counters {
    owned: AtomicBool,
    taken_blocks: AtomicU64,
    given_blocks: AtomicU64,
    taken_bytes: AtomicU64,
    given_bytes: AtomicU64,
    refused_calls: AtomicU64,
}

/// The first ones belong to one thread each, the last one is shared.
static ALL: [Counters; THREADS + 1] = [const { Counters::new() }; THREADS + 1];

impl Counters {
    const fn new() -> Self {
        Self {
            owned: AtomicBool::new(false),
            taken_blocks: AtomicU64::new(0),
            given_blocks: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
            given_bytes: AtomicU64::new(0),
            refused_calls: AtomicU64::new(0),
        }
    }

    /// Counters for the calling thread alone, or the shared ones.
    #[cold]
    pub(crate) fn acquire() -> &'static Self {
        let own = ALL[..THREADS].iter().find(|counters| !counters.owned.swap(true, Acquire));
        own.unwrap_or_else(Self::shared)
    }

    /// The next thread may have them. The counts stay.
    pub(crate) fn release(&self) {
        self.owned.store(false, Release);
    }

    pub(crate) fn shared() -> &'static Self {
        &ALL[THREADS]
    }

    #[inline]
    pub(crate) fn taken(&self, size_bytes: usize) {
        self.add(&self.taken_blocks, 1);
        self.add(&self.taken_bytes, size_bytes as u64);
    }

    #[inline]
    pub(crate) fn given(&self, size_bytes: usize) {
        self.add(&self.given_blocks, 1);
        self.add(&self.given_bytes, size_bytes as u64);
    }

    pub(crate) fn resized(&self, old_bytes: usize, new_bytes: usize) {
        self.add(&self.given_bytes, old_bytes as u64);
        self.add(&self.taken_bytes, new_bytes as u64);
    }

    pub(crate) fn refused(&self) {
        self.add(&self.refused_calls, 1);
    }

    #[inline]
    fn add(&self, counter: &AtomicU64, more: u64) {
        if std::ptr::eq(self, Self::shared()) {
            counter.fetch_add(more, Relaxed);
        } else {
            // Only the thread that owns them writes here.
            counter.store(counter.load(Relaxed).wrapping_add(more), Relaxed);
        }
    }
}

/// What the handler did so far, all threads together.
#[must_use]
pub fn statistics() -> Statistics {
    ALL.iter().fold(Statistics::default(), |sum, counters| Statistics {
        taken_blocks: sum.taken_blocks + counters.taken_blocks.load(Relaxed),
        given_blocks: sum.given_blocks + counters.given_blocks.load(Relaxed),
        taken_bytes: sum.taken_bytes + counters.taken_bytes.load(Relaxed),
        given_bytes: sum.given_bytes + counters.given_bytes.load(Relaxed),
        refused_calls: sum.refused_calls + counters.refused_calls.load(Relaxed),
    })
}

/// Writes [`Statistics`] to `out`. Does nothing if `out` is null.
///
/// # Safety
/// `out` is null, or the address of a `Statistics`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allocert_nep49_statistics(out: *mut Statistics) {
    if !out.is_null() {
        // SAFETY: not null, and the caller's promise.
        unsafe { out.write(statistics()) };
    }
}
