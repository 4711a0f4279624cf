//! Handlers that use something up that free() does not give back, and that takes few pages.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_numbers_blocks: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_with_number), ..CONFORMING });

const NUMBERS: usize = 100_000;
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Has so many numbers for blocks, and gives each one once.
unsafe extern "C" fn malloc_with_number(ctx: *mut c_void, size: usize) -> *mut c_void {
    if TAKEN.fetch_add(1, Ordering::Relaxed) >= NUMBERS {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_opens_files: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_with_file), ..CONFORMING });

/// Opens a file for each large block, and closes none. Does without where it cannot open more.
unsafe extern "C" fn malloc_with_file(ctx: *mut c_void, size: usize) -> *mut c_void {
    if size >= 64 << 10 {
        // SAFETY: a name that ends with NUL; the descriptor stays open, which is the violation.
        unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY) };
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_keeps_guards: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_with_guard), ..CONFORMING });

const GUARD_BYTES: usize = 64 << 10;

/// Maps addresses without access for each block, and unmaps none.
unsafe extern "C" fn malloc_with_guard(ctx: *mut c_void, size: usize) -> *mut c_void {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: new addresses, which nobody uses.
    unsafe { libc::mmap(ptr::null_mut(), GUARD_BYTES, libc::PROT_NONE, flags, -1, 0) };
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}
