//! Blocks that a thread got back and keeps for its next requests. libc keeps blocks too, but a
//! header moves blocks of 1 KiB out of its cache, and it keeps none of 64 KiB.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use crate::header::{self, header};

/// Small blocks of one class have room for the same multiple of so many bytes.
const STEP_BYTES: usize = 64;
const SMALL_CLASSES: usize = 64;
/// The room of the largest small block.
const SMALL_BYTES: usize = STEP_BYTES * SMALL_CLASSES;
/// So many small blocks of a class a thread keeps.
const KEPT: u8 = 7;
/// One block is kept for each power of two below this room.
const LARGE_BYTES: usize = 2 << 20;
const LARGE_CLASSES: usize = LARGE_BYTES.ilog2() as usize;

/// The room of a new block for which so many bytes are asked: a small one has that of its class.
pub(crate) fn room_bytes(size_bytes: usize) -> usize {
    if size_bytes <= SMALL_BYTES { (small_class(size_bytes) + 1) * STEP_BYTES } else { size_bytes }
}

/// The class of a block that [`SMALL_BYTES`] are enough for.
#[inline]
fn small_class(size_bytes: usize) -> usize {
    size_bytes.saturating_sub(1) / STEP_BYTES
}

/// The blocks that one thread keeps.
pub(crate) struct KeptBlocks {
    /// By class: a chain of blocks. The first word of a block is the address of the next one.
    first: [Cell<*mut c_void>; SMALL_CLASSES],
    count: [Cell<u8>; SMALL_CLASSES],
    /// By the logarithm of the room.
    large: [Cell<*mut c_void>; LARGE_CLASSES],
}

impl KeptBlocks {
    pub(crate) const fn new() -> Self {
        Self {
            first: [const { Cell::new(ptr::null_mut()) }; SMALL_CLASSES],
            count: [const { Cell::new(0) }; SMALL_CLASSES],
            large: [const { Cell::new(ptr::null_mut()) }; LARGE_CLASSES],
        }
    }

    /// Takes a block with room for so many bytes; null if there is none.
    #[inline]
    pub(crate) fn take(&self, size_bytes: usize) -> *mut c_void {
        if size_bytes <= SMALL_BYTES {
            self.take_small(small_class(size_bytes))
        } else {
            self.take_large(size_bytes)
        }
    }

    #[inline]
    fn take_small(&self, class: usize) -> *mut c_void {
        let block = self.first[class].get();
        if !block.is_null() {
            // SAFETY: a kept block, whose first word `keep_small` wrote.
            self.first[class].set(unsafe { block.cast::<*mut c_void>().read() });
            self.count[class].set(self.count[class].get().wrapping_sub(1));
        }
        block
    }

    /// A block that fits, with no more than an eighth of its room left over.
    fn take_large(&self, size_bytes: usize) -> *mut c_void {
        let Some(slot) = self.large.get(size_bytes.ilog2() as usize) else {
            return ptr::null_mut();
        };
        let block = slot.get();
        if block.is_null() {
            return block;
        }
        // SAFETY: the header of a kept block.
        let room_bytes = unsafe { (*header(block)).room_bytes };
        if size_bytes > room_bytes || room_bytes - size_bytes > room_bytes / 8 {
            return ptr::null_mut();
        }
        slot.replace(ptr::null_mut())
    }

    /// Keeps a block. `false` if there is no place for it.
    ///
    /// # Safety
    /// A block of this handler with so much room, which nobody uses and nobody else keeps.
    #[inline]
    pub(crate) unsafe fn keep(&self, block: *mut c_void, room_bytes: usize) -> bool {
        if room_bytes <= SMALL_BYTES {
            // SAFETY: the caller's promise.
            unsafe { self.keep_small(block, small_class(room_bytes)) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.keep_large(block, room_bytes) }
        }
    }

    /// # Safety
    /// As for [`KeptBlocks::keep`].
    #[inline]
    unsafe fn keep_small(&self, block: *mut c_void, class: usize) -> bool {
        let count = self.count[class].get();
        if count >= KEPT {
            return false;
        }
        // SAFETY: the smallest room is that of a few words, aligned to 64 bytes.
        unsafe { block.cast::<*mut c_void>().write(self.first[class].get()) };
        self.first[class].set(block);
        self.count[class].set(count + 1);
        true
    }

    /// The block that was kept before it goes back to libc: it was used less lately.
    ///
    /// # Safety
    /// As for [`KeptBlocks::keep`].
    unsafe fn keep_large(&self, block: *mut c_void, room_bytes: usize) -> bool {
        let Some(slot) = self.large.get(room_bytes.ilog2() as usize) else { return false };
        let before = slot.replace(block);
        if !before.is_null() {
            // SAFETY: a block that only this slot kept.
            unsafe { header::release(before) };
        }
        true
    }

    /// Gives all of them back to libc.
    pub(crate) fn release_all(&self) {
        for class in 0..SMALL_CLASSES {
            loop {
                let block = self.take_small(class);
                if block.is_null() {
                    break;
                }
                // SAFETY: a block that only this thread kept.
                unsafe { header::release(block) };
            }
        }
        for slot in &self.large {
            let block = slot.replace(ptr::null_mut());
            if !block.is_null() {
                // SAFETY: as above.
                unsafe { header::release(block) };
            }
        }
    }
}
