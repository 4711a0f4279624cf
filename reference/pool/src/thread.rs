//! A number for each thread, so that it finds the same cache again.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The threads that have a number.
static NUMBERED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// 0 for none yet. Nothing is to be dropped with it, so an access needs no check.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// From 1, another one for each thread.
#[inline]
pub(crate) fn number() -> usize {
    NUMBER.with(|number| match number.get() {
        0 => {
            number.set(NUMBERED.fetch_add(1, Relaxed) + 1);
            number.get()
        }
        known => known,
    })
}
