//! Which CUDA context is current, for records that no driver function writes.

use std::sync::OnceLock;

static SOURCE: OnceLock<fn() -> u64> = OnceLock::new();

/// Sets who tells the calling thread's current CUDA context (0: none) when [`marker`] or
/// [`begin_call`] writes a record. The CUDA driver sets itself when it starts; in a process without
/// one the context is 0. Only the first source counts.
///
/// [`marker`]: crate::marker
/// [`begin_call`]: crate::begin_call
pub fn set_context_source(source: fn() -> u64) {
    // A second copy of the driver in one process records nothing, so it need not be heard.
    SOURCE.set(source).ok();
}

pub(crate) fn current() -> u64 {
    SOURCE.get().map_or(0, |source| source())
}
