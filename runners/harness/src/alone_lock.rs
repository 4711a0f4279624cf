//! The lock by which harnesses that run side by side let one of them run a case alone.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Held for reading by a harness that runs cases beside others, and for writing by one that runs a
/// case alone. Clones share one lock.
#[derive(Debug, Clone, Default)]
pub struct AloneLock(Arc<RwLock<()>>);

impl AloneLock {
    /// Held by what runs beside others.
    pub(crate) fn beside_others(&self) -> RwLockReadGuard<'_, ()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held by what runs alone; waits until nothing runs beside.
    pub(crate) fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
