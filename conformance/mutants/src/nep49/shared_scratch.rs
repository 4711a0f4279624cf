//! Functions that use one variable of the library for the calls of all threads.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

const SCRATCH_BYTES: usize = 4096;
static SCRATCH: [AtomicU8; SCRATCH_BYTES] = [const { AtomicU8::new(0) }; SCRATCH_BYTES];

#[unsafe(no_mangle)]
static mutant_nep49_realloc_by_scratch: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_by_scratch), ..CONFORMING });

/// Keeps the bytes of a block of up to 4096 bytes in memory of the library until there is a new
/// block.
unsafe extern "C" fn realloc_by_scratch(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: null or a live block of libc's.
    let old = unsafe { libc::malloc_usable_size(block) };
    if block.is_null() || old > SCRATCH_BYTES {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    let (scratch, length) = (SCRATCH.as_ptr().cast_mut().cast(), old.min(size));
    // SAFETY: bytes of the live block and of the static, which another thread may write too: that
    // is the violation.
    unsafe { libc::memcpy(scratch, block, length) };
    // SAFETY: any size.
    let new = unsafe { conforming::malloc(ctx, size) };
    if new.is_null() {
        return new;
    }
    // SAFETY: as before, with bytes of the new block.
    unsafe { libc::memcpy(new, scratch, length) };
    // SAFETY: a live block, freed once.
    unsafe { conforming::free(ctx, block, old) };
    new
}

static SIZE: AtomicUsize = AtomicUsize::new(0);

#[unsafe(no_mangle)]
static mutant_nep49_size_in_static: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_of_static_size), ..CONFORMING });

/// Passes the size on in a variable of the library.
unsafe extern "C" fn malloc_of_static_size(ctx: *mut c_void, size: usize) -> *mut c_void {
    SIZE.store(size, Ordering::Relaxed);
    // SAFETY: any size.
    unsafe { conforming::malloc(ctx, SIZE.load(Ordering::Relaxed)) }
}
