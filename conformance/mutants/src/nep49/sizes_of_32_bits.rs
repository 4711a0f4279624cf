//! Handlers that keep a size in 32 bits.

use std::ffi::c_void;
use std::ptr;

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

/// What each handler refuses.
const TOO_MUCH: usize = 1 << 40;

/// The defect: what 32 bits hold of a size.
fn kept(size: usize) -> usize {
    size as u32 as usize
}

#[unsafe(no_mangle)]
static mutant_nep49_malloc_of_32_bits: StaticHandler =
    mutant(Allocator { malloc: Some(malloc), ..CONFORMING });

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    if size > TOO_MUCH {
        return ptr::null_mut();
    }
    // SAFETY: any size.
    unsafe { conforming::malloc(ctx, kept(size)) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_of_32_bits: StaticHandler =
    mutant(Allocator { calloc: Some(calloc), ..CONFORMING });

unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    let size = nelem.saturating_mul(elsize);
    if size > TOO_MUCH {
        return ptr::null_mut();
    }
    // SAFETY: any size.
    unsafe { conforming::calloc(ctx, kept(size), 1) }
}

#[unsafe(no_mangle)]
static mutant_nep49_realloc_of_32_bits: StaticHandler =
    mutant(Allocator { realloc: Some(realloc), ..CONFORMING });

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: any size.
    let new = unsafe { conforming::malloc(ctx, size) };
    if !new.is_null() && !block.is_null() {
        // SAFETY: a live block of libc's.
        let old = kept(unsafe { libc::malloc_usable_size(block) });
        // SAFETY: both blocks have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old.min(size)) };
        // SAFETY: the caller gave the block up.
        unsafe { conforming::free(ctx, block, old) };
    }
    new
}
