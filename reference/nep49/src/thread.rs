//! What a thread has for itself: counters, and the blocks that it keeps.
//!
//! Like libc's heap, this must not be called from a signal handler.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use crate::counters::{Counters, Request};
use crate::kept::KeptBlocks;

struct ThreadState {
    /// The thread's own counters. It has none before its first block and at its end, or if too
    /// many threads have some; then it keeps no blocks either.
    counters: Cell<Option<&'static Counters>>,
    kept: KeptBlocks,
}

thread_local! {
    /// Nothing is to be dropped with it, so an access needs no check.
    static STATE: ThreadState = const {
        ThreadState { counters: Cell::new(None), kept: KeptBlocks::new() }
    };
    static END: EndOfThread = const { EndOfThread };
}

/// Empties the state when the thread ends.
struct EndOfThread;

impl Drop for EndOfThread {
    fn drop(&mut self) {
        let state = state();
        if let Some(counters) = state.counters.take() {
            state.kept.release_all();
            counters.release();
        }
    }
}

/// The state of the calling thread. `LocalKey::with` would call a long closure by its address.
#[inline]
fn state<'a>() -> &'a ThreadState {
    let state = STATE.with(ptr::from_ref);
    // SAFETY: it lives as long as the thread, and no caller lets another thread have it.
    unsafe { &*state }
}

/// A kept block with room for so many bytes, which counts as given. Null if there is none.
#[inline]
pub(crate) fn take_kept(request: Request, size_bytes: usize) -> *mut c_void {
    let state = state();
    let Some(counters) = state.counters.get() else { return ptr::null_mut() };
    let block = state.kept.take(size_bytes);
    if !block.is_null() {
        counters.own_given(request, size_bytes);
    }
    block
}

/// Counts a block of so many bytes as got back, and keeps it. `false` if there is no place for it.
///
/// # Safety
/// A block of this handler with so much room, which was just given back.
#[inline]
pub(crate) unsafe fn keep(block: *mut c_void, size_bytes: usize, room_bytes: usize) -> bool {
    let state = state();
    let Some(counters) = state.counters.get() else {
        count(|counters| counters.freed(size_bytes));
        return false;
    };
    counters.own_freed(size_bytes);
    // SAFETY: the caller's promise.
    unsafe { state.kept.keep(block, room_bytes) }
}

/// Counts by the thread's counters, or by the shared ones if it has none.
#[cold]
pub(crate) fn count(add: impl FnOnce(&Counters)) {
    let state = state();
    let own = state.counters.get().or_else(|| own_counters(state));
    // Without own ones, the thread ends, or too many threads have some.
    add(own.unwrap_or_else(Counters::shared));
}

/// Counters for a thread that does not end.
fn own_counters(state: &ThreadState) -> Option<&'static Counters> {
    END.try_with(|_| ()).ok()?;
    state.counters.set(Counters::acquire());
    state.counters.get()
}
