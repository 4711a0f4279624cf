//! What the handler gave and got back. Each thread counts for itself, so that counting needs no
//! lock and no atomic addition; readers add the counts up.

use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// So many threads count for themselves at a time. Others share one set of counters.
const THREADS: usize = 256;

/// A thread adds its blocks to [`PUBLISHED`] when their bytes changed by more than that.
const PEAK_STEP_BYTES: i64 = 1 << 20;

/// What the handler did since the process began.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Blocks alive, exact while no other thread is inside the handler.
    pub live_blocks: u64,
    /// Bytes of the blocks alive, as asked for; exact like `live_blocks`.
    pub live_bytes: u64,
    /// The most `live_bytes` so far. A thread may add or leave out up to 1 MiB.
    pub peak_bytes: u64,
    /// Calls of malloc() that gave a block, and of realloc() for no old block.
    pub malloc_calls: u64,
    /// Calls of calloc() that gave a block.
    pub calloc_calls: u64,
    /// Calls of realloc() that gave a block for an old one.
    pub realloc_calls: u64,
    /// Calls of free() that took a block.
    pub free_calls: u64,
    /// Calls that answered null, because there was no memory.
    pub failed_calls: u64,
    /// Calls with memory that the handler did not give, or had got back before.
    pub refused_calls: u64,
}

/// How a block is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Malloc,
    Calloc,
}

/// The counters of one thread, in cache lines of their own.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Counters {
    /// By [`Request`].
    given: [AtomicU64; 2],
    resized: AtomicU64,
    freed: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
    /// What this thread took, less what it gave back: blocks of other threads, too.
    live_bytes: AtomicI64,
    /// What [`PUBLISHED`] has of `live_bytes`.
    published_bytes: AtomicI64,
    owned: AtomicBool,
}

/// The first ones belong to one thread each, the last one is shared.
static ALL: [Counters; THREADS + 1] = [const { Counters::new() }; THREADS + 1];

/// Bytes alive, as far as the threads said so.
static PUBLISHED: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

impl Counters {
    const fn new() -> Self {
        Self {
            given: [const { AtomicU64::new(0) }; 2],
            resized: AtomicU64::new(0),
            freed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            live_bytes: AtomicI64::new(0),
            published_bytes: AtomicI64::new(0),
            owned: AtomicBool::new(false),
        }
    }

    /// Counters for the calling thread alone, unless too many threads have some.
    #[cold]
    pub(crate) fn acquire() -> Option<&'static Self> {
        ALL[..THREADS].iter().find(|counters| !counters.owned.swap(true, Acquire))
    }

    /// The next thread may have them. The counts stay.
    pub(crate) fn release(&self) {
        self.owned.store(false, Release);
    }

    /// Those of threads without counters of their own.
    pub(crate) fn shared() -> &'static Self {
        &ALL[THREADS]
    }

    fn is_shared(&self) -> bool {
        std::ptr::eq(self, Self::shared())
    }

    /// A block was given to the thread that owns the counters.
    #[inline]
    pub(crate) fn own_given(&self, request: Request, size_bytes: usize) {
        add_one(&self.given[request as usize]);
        self.own_change(size_bytes as i64);
    }

    /// The thread that owns the counters gave a block back.
    #[inline]
    pub(crate) fn own_freed(&self, size_bytes: usize) {
        add_one(&self.freed);
        self.own_change(-(size_bytes as i64));
    }

    #[inline]
    fn own_change(&self, bytes: i64) {
        let live = self.live_bytes.load(Relaxed).wrapping_add(bytes);
        self.live_bytes.store(live, Relaxed);
        let unpublished = live.wrapping_sub(self.published_bytes.load(Relaxed));
        if !(-PEAK_STEP_BYTES..=PEAK_STEP_BYTES).contains(&unpublished) {
            self.published_bytes.store(live, Relaxed);
            publish(unpublished);
        }
    }

    pub(crate) fn given(&self, request: Request, size_bytes: usize) {
        self.count(&self.given[request as usize]);
        self.change(size_bytes as i64);
    }

    pub(crate) fn resized(&self, old_bytes: usize, new_bytes: usize) {
        self.count(&self.resized);
        self.change(new_bytes as i64 - old_bytes as i64);
    }

    pub(crate) fn freed(&self, size_bytes: usize) {
        self.count(&self.freed);
        self.change(-(size_bytes as i64));
    }

    pub(crate) fn failed(&self) {
        self.count(&self.failed);
    }

    pub(crate) fn refused(&self) {
        self.count(&self.refused);
    }

    fn count(&self, counter: &AtomicU64) {
        if self.is_shared() {
            counter.fetch_add(1, Relaxed);
        } else {
            add_one(counter);
        }
    }

    fn change(&self, bytes: i64) {
        if self.is_shared() {
            self.live_bytes.fetch_add(bytes, Relaxed);
            publish(bytes);
        } else {
            self.own_change(bytes);
        }
    }
}

/// Only the thread that owns the counter writes to it.
#[inline]
fn add_one(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
}

#[cold]
fn publish(bytes: i64) {
    let live = PUBLISHED.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    if bytes > 0 {
        PEAK.fetch_max(live, Relaxed);
    }
}

/// What the handler did so far, all threads together.
#[must_use]
pub fn statistics() -> Statistics {
    let sum = |counter: fn(&Counters) -> &AtomicU64| -> u64 {
        ALL.iter().map(|counters| counter(counters).load(Relaxed)).sum()
    };
    // A block that is freed while this reads counts as alive, not as less than nothing.
    let free_calls = sum(|counters| &counters.freed);
    let malloc_calls = sum(|counters| &counters.given[Request::Malloc as usize]);
    let calloc_calls = sum(|counters| &counters.given[Request::Calloc as usize]);
    let live_bytes: i64 = ALL.iter().map(|counters| counters.live_bytes.load(Relaxed)).sum();
    let live_bytes = u64::try_from(live_bytes).unwrap_or(0);
    let peak_bytes = u64::try_from(PEAK.load(Relaxed)).unwrap_or(0);
    Statistics {
        live_blocks: (malloc_calls + calloc_calls).saturating_sub(free_calls),
        live_bytes,
        peak_bytes: peak_bytes.max(live_bytes),
        malloc_calls,
        calloc_calls,
        realloc_calls: sum(|counters| &counters.resized),
        free_calls,
        failed_calls: sum(|counters| &counters.failed),
        refused_calls: sum(|counters| &counters.refused),
    }
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
