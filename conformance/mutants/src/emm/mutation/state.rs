//! The state that a mutation keeps, shared by all threads.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use allocert_abi::emm::Memory;

/// A value behind a lock.
#[derive(Debug, Default)]
pub(crate) struct Locked<T>(Mutex<T>);

// SAFETY: the values kept here are numbers and addresses of the C contract, which are the same on
// every thread; the lock orders all access.
unsafe impl<T> Send for Locked<T> {}
// SAFETY: as for Send.
unsafe impl<T> Sync for Locked<T> {}

impl<T> Locked<Vec<T>> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Locked<T> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory that was returned and not released, oldest first.
pub(crate) type LiveBlocks = Locked<Vec<Memory>>;

impl LiveBlocks {
    pub(crate) fn add(&self, memory: Memory) -> Memory {
        self.lock().push(memory);
        memory
    }

    pub(crate) fn remove(&self, token: u64) -> Option<Memory> {
        let mut live = self.lock();
        let index = live.iter().position(|memory| memory.token == token)?;
        Some(live.remove(index))
    }

    pub(crate) fn contains(&self, token: u64) -> bool {
        self.lock().iter().any(|memory| memory.token == token)
    }

    pub(crate) fn oldest(&self) -> Option<Memory> {
        self.lock().first().copied()
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// Removes and returns all blocks.
    pub(crate) fn take(&self) -> Vec<Memory> {
        std::mem::take(&mut *self.lock())
    }
}

/// How often something happened.
pub(crate) type Count = Locked<u64>;

impl Count {
    /// Adds one and returns the count before.
    pub(crate) fn increment(&self) -> u64 {
        let mut count = self.lock();
        *count += 1;
        *count - 1
    }

    pub(crate) fn get(&self) -> u64 {
        *self.lock()
    }

    pub(crate) fn set(&self, value: u64) {
        *self.lock() = value;
    }
}

/// Whether something has happened.
pub(crate) type Flag = Locked<bool>;

impl Flag {
    pub(crate) fn set(&self) {
        *self.lock() = true;
    }

    pub(crate) fn clear(&self) {
        *self.lock() = false;
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.lock()
    }
}

/// The first thread that was recorded.
#[derive(Debug, Default)]
pub(crate) struct FirstThread(Locked<Option<ThreadId>>);

impl FirstThread {
    /// Records the calling thread, unless another one was recorded before.
    pub(crate) fn record(&self) {
        self.0.lock().get_or_insert_with(|| thread::current().id());
    }

    pub(crate) fn is_current(&self) -> bool {
        *self.0.lock() == Some(thread::current().id())
    }
}

/// How many `defer_begin` have no `defer_end` yet.
#[derive(Debug, Default)]
pub(crate) struct ScopeDepth(Count);

impl ScopeDepth {
    pub(crate) fn begin(&self) {
        self.0.increment();
    }

    /// Ends the innermost scope, if there is one, and returns how many are left.
    pub(crate) fn end(&self) -> u64 {
        let depth = self.0.get().saturating_sub(1);
        self.0.set(depth);
        depth
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }
}
