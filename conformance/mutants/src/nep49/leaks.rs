//! Handlers that lose a part of what comes back.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

/// One block of so many is lost.
const LOST_OF: usize = 10;

static COUNT: AtomicUsize = AtomicUsize::new(0);

fn is_lost() -> bool {
    COUNT.fetch_add(1, SeqCst) % LOST_OF == LOST_OF - 1
}

#[unsafe(no_mangle)]
static mutant_nep49_leaks_every_tenth: StaticHandler =
    mutant(Allocator { free: Some(free_most), ..CONFORMING });

unsafe extern "C" fn free_most(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if block.is_null() || !is_lost() {
        // SAFETY: the same call.
        unsafe { conforming::free(ctx, block, size) }
    }
}

#[unsafe(no_mangle)]
static mutant_nep49_realloc_leaks_every_tenth: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_freeing_most), ..CONFORMING });

unsafe extern "C" fn realloc_freeing_most(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: the same call.
    let new = unsafe { conforming::realloc_by_copy(ctx, block, size) };
    if !new.is_null() && !block.is_null() && !is_lost() {
        // SAFETY: the caller gave the block up.
        unsafe { conforming::free(ctx, block, size) };
    }
    new
}
