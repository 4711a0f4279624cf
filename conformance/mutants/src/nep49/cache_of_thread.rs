//! A handler that keeps a few freed blocks for each thread, and loses them when the thread ends.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr;

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_loses_cache_of_thread: StaticHandler =
    mutant(Allocator { malloc: Some(malloc), free: Some(free), ..CONFORMING });

/// The blocks that are kept have so many bytes and serve requests of no more.
const KEPT_BYTES: usize = 1024;
const MOST_BLOCKS: usize = 8;

thread_local! {
    /// The defect: nobody frees these blocks when the list goes.
    static CACHE: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    if !(KEPT_BYTES / 2..=KEPT_BYTES).contains(&size) {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    match CACHE.with_borrow_mut(Vec::pop) {
        Some(block) => ptr::with_exposed_provenance_mut(block),
        // SAFETY: any size.
        None => unsafe { conforming::malloc(ctx, KEPT_BYTES) },
    }
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    // SAFETY: null or a live block of libc's.
    let bytes = unsafe { libc::malloc_usable_size(block) };
    let is_kept = (KEPT_BYTES..2 * KEPT_BYTES).contains(&bytes)
        && CACHE.with_borrow_mut(|cache| {
            let has_room = cache.len() < MOST_BLOCKS;
            if has_room {
                cache.push(block.expose_provenance());
            }
            has_room
        });
    if !is_kept {
        // SAFETY: the same call.
        unsafe { conforming::free(ctx, block, size) }
    }
}
