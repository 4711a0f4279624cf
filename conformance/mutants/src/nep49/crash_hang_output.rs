//! Functions that end the process, never return, or print.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_abort_when_short: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_or_abort), ..CONFORMING });

unsafe extern "C" fn malloc_or_abort(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the same call.
    let block = unsafe { conforming::malloc(ctx, size) };
    if block.is_null() {
        std::process::abort();
    }
    block
}

#[unsafe(no_mangle)]
static mutant_nep49_free_of_null_aborts: StaticHandler =
    mutant(Allocator { free: Some(free_of_blocks), ..CONFORMING });

unsafe extern "C" fn free_of_blocks(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if block.is_null() {
        std::process::abort();
    }
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_hangs: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_for_ever), ..CONFORMING });

unsafe extern "C" fn realloc_for_ever(
    _ctx: *mut c_void,
    _block: *mut c_void,
    _size: usize,
) -> *mut c_void {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[unsafe(no_mangle)]
static mutant_nep49_prints: StaticHandler =
    mutant(Allocator { free: Some(free_aloud), ..CONFORMING });

unsafe extern "C" fn free_aloud(ctx: *mut c_void, block: *mut c_void, size: usize) {
    eprintln!("freed {size} bytes");
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_checks_leaks_at_exit: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_counted), free: Some(free_counted), ..CONFORMING });

static LIVE: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn malloc_counted(ctx: *mut c_void, size: usize) -> *mut c_void {
    if LIVE.fetch_add(1, Ordering::SeqCst) == 0 {
        // SAFETY: a function without arguments.
        unsafe { libc::atexit(end_with_live_blocks) };
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

unsafe extern "C" fn free_counted(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if !block.is_null() {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

extern "C" fn end_with_live_blocks() {
    if LIVE.load(Ordering::SeqCst) > 0 {
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(3) };
    }
}
