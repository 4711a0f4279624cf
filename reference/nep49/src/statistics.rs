//! What the handler gave and got back. Each thread counts for itself, so that counting needs no
//! lock and no atomic addition; readers add the counts up.

use std::cell::Cell;
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
    /// Bytes of the blocks given, as asked for; a block that grows counts again with its new size.
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
#[derive(Debug, Default)]
#[repr(align(64))]
struct Counters {
    owned: AtomicBool,
    taken_blocks: AtomicU64,
    given_blocks: AtomicU64,
    taken_bytes: AtomicU64,
    given_bytes: AtomicU64,
    refused_calls: AtomicU64,
}

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
}

/// The first ones belong to one thread each, the last one is shared.
static COUNTERS: [Counters; THREADS + 1] = [const { Counters::new() }; THREADS + 1];
static SHARED: &Counters = &COUNTERS[THREADS];

/// The thread's counters. The destructor hands them to the next thread; a block that is freed
/// after it counts in the shared ones.
struct Ownership(&'static Counters);

impl Drop for Ownership {
    fn drop(&mut self) {
        OWN.set(Some(SHARED));
        self.0.owned.store(false, Release);
    }
}

thread_local! {
    static OWN: Cell<Option<&'static Counters>> = const { Cell::new(None) };
    static OWNERSHIP: Cell<Option<Ownership>> = const { Cell::new(None) };
}

/// Adds to the calling thread's counters.
#[inline]
fn count(add: impl Fn(&Counters, fn(&AtomicU64, u64))) {
    let counters = OWN.get().unwrap_or_else(own);
    if std::ptr::eq(counters, SHARED) {
        add(counters, |counter, more| {
            counter.fetch_add(more, Relaxed);
        });
    } else {
        // Only this thread writes here.
        add(counters, |counter, more| counter.store(counter.load(Relaxed) + more, Relaxed));
    }
}

#[cold]
fn own() -> &'static Counters {
    let free = COUNTERS[..THREADS].iter().find(|counters| !counters.owned.swap(true, Acquire));
    let counters = match free {
        // A thread that ends already, and has no destructors left to run, shares.
        Some(counters) if OWNERSHIP.try_with(|_| ()).is_ok() => {
            let _ = OWNERSHIP.try_with(|slot| slot.set(Some(Ownership(counters))));
            counters
        }
        Some(counters) => {
            counters.owned.store(false, Release);
            SHARED
        }
        None => SHARED,
    };
    OWN.set(Some(counters));
    counters
}

#[inline]
pub(crate) fn taken(size_bytes: usize) {
    count(|counters, add| {
        add(&counters.taken_blocks, 1);
        add(&counters.taken_bytes, size_bytes as u64);
    });
}

#[inline]
pub(crate) fn given(size_bytes: usize) {
    count(|counters, add| {
        add(&counters.given_blocks, 1);
        add(&counters.given_bytes, size_bytes as u64);
    });
}

pub(crate) fn resized(old_bytes: usize, new_bytes: usize) {
    count(|counters, add| {
        add(&counters.given_bytes, old_bytes as u64);
        add(&counters.taken_bytes, new_bytes as u64);
    });
}

pub(crate) fn refused() {
    count(|counters, add| add(&counters.refused_calls, 1));
}

/// What the handler did so far, all threads together.
#[must_use]
pub fn statistics() -> Statistics {
    COUNTERS.iter().fold(Statistics::default(), |sum, counters| Statistics {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_threads_that_ended_remain() {
        let before = statistics();
        let threads: Vec<_> = (0..THREADS + 8)
            .map(|_| {
                std::thread::spawn(|| {
                    taken(100);
                    resized(100, 40);
                    given(40);
                    taken(7);
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("a thread that counts");
        }
        let after = statistics();
        let grown = (THREADS + 8) as u64;
        assert_eq!(after.live_blocks() - before.live_blocks(), grown);
        assert_eq!(after.live_bytes() - before.live_bytes(), 7 * grown);
    }
}
