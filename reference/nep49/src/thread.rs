//! What a thread has for itself: counters, and small blocks that it got back and keeps for its next
//! requests. libc keeps such blocks too, but a header moves blocks of 1 KiB out of its cache.
//!
//! Like libc's heap, this must not be called from a signal handler.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use crate::counters::Counters;
use crate::header;

/// Blocks of one class have room for the same multiple of so many bytes.
const STEP_BYTES: usize = 64;
const CLASSES: usize = 64;
/// So many blocks of a class a thread keeps.
const KEPT: usize = 7;

/// The room of blocks for which so many bytes are asked: for small ones that of their class.
pub(crate) fn room_bytes(size_bytes: usize) -> usize {
    class(size_bytes).map_or(size_bytes, |class| (class + 1) * STEP_BYTES)
}

/// The class of a small block.
#[inline]
fn class(size_bytes: usize) -> Option<usize> {
    let class = size_bytes.saturating_sub(1) / STEP_BYTES;
    (class < CLASSES).then_some(class)
}

/// The blocks of one class that a thread keeps; the first `count` are there.
struct Kept {
    count: Cell<usize>,
    blocks: [Cell<*mut c_void>; KEPT],
}

impl Kept {
    const fn new() -> Self {
        Self { count: Cell::new(0), blocks: [const { Cell::new(ptr::null_mut()) }; KEPT] }
    }

    #[inline]
    fn pop(&self) -> Option<*mut c_void> {
        let count = self.count.get().checked_sub(1)?;
        self.count.set(count);
        self.blocks.get(count).map(Cell::get)
    }

    /// `false` if there is no room.
    #[inline]
    fn push(&self, block: *mut c_void) -> bool {
        let count = self.count.get();
        let Some(slot) = self.blocks.get(count) else { return false };
        slot.set(block);
        self.count.set(count + 1);
        true
    }
}

struct ThreadState {
    counters: Cell<Option<&'static Counters>>,
    kept: [Kept; CLASSES],
}

impl ThreadState {
    #[inline]
    fn counters(&self) -> &'static Counters {
        self.counters.get().unwrap_or_else(|| {
            let counters = Counters::acquire();
            self.counters.set(Some(counters));
            counters
        })
    }
}

impl Drop for ThreadState {
    /// The thread ends.
    fn drop(&mut self) {
        for kept in &self.kept {
            while let Some(block) = kept.pop() {
                // SAFETY: a block that was given back, and that only this thread kept.
                unsafe { header::release(block) };
            }
        }
        if let Some(counters) = self.counters.get() {
            counters.release();
        }
    }
}

thread_local! {
    static STATE: ThreadState = const {
        ThreadState { counters: Cell::new(None), kept: [const { Kept::new() }; CLASSES] }
    };
}

/// A kept block with room for so many bytes. It counts as given.
#[inline]
pub(crate) fn take_kept(size_bytes: usize) -> Option<*mut c_void> {
    let class = class(size_bytes)?;
    let kept = STATE.try_with(|state| {
        let block = state.kept[class].pop()?;
        state.counters().taken(size_bytes);
        Some(block)
    });
    kept.ok().flatten()
}

/// Counts a block of so many bytes as got back, and keeps it. `false` if there is no room for it,
/// or if the thread ends.
#[inline]
pub(crate) fn keep(block: *mut c_void, size_bytes: usize) -> bool {
    let kept = STATE.try_with(|state| {
        state.counters().given(size_bytes);
        class(size_bytes).is_some_and(|class| state.kept[class].push(block))
    });
    kept.unwrap_or_else(|_| {
        Counters::shared().given(size_bytes);
        false
    })
}

/// Counts by the thread's counters, or by the shared ones if the thread ends.
pub(crate) fn count(add: impl FnOnce(&Counters)) {
    let counters = STATE.try_with(ThreadState::counters).unwrap_or_else(|_| Counters::shared());
    add(counters);
}
