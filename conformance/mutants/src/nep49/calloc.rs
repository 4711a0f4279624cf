//! Broken `calloc`.

use std::ffi::c_void;
use std::ptr;

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_calloc_is_malloc: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_not_zeroed), ..CONFORMING });

unsafe extern "C" fn calloc_not_zeroed(
    ctx: *mut c_void,
    nelem: usize,
    elsize: usize,
) -> *mut c_void {
    // SAFETY: any size.
    unsafe { conforming::malloc(ctx, nelem.saturating_mul(elsize)) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_ignores_elsize: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_of_bytes), ..CONFORMING });

unsafe extern "C" fn calloc_of_bytes(
    ctx: *mut c_void,
    nelem: usize,
    _elsize: usize,
) -> *mut c_void {
    // SAFETY: any size.
    unsafe { conforming::calloc(ctx, nelem, 1) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_wraps: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_wrapping), ..CONFORMING });

unsafe extern "C" fn calloc_wrapping(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: any size.
    unsafe { conforming::calloc(ctx, nelem.wrapping_mul(elsize), 1) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_refuses: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_at_most_1_mib), ..CONFORMING });

unsafe extern "C" fn calloc_at_most_1_mib(
    ctx: *mut c_void,
    nelem: usize,
    elsize: usize,
) -> *mut c_void {
    if nelem.saturating_mul(elsize) > 1 << 20 {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::calloc(ctx, nelem, elsize) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_at_most_64_mib: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_at_most_64_mib), ..CONFORMING });

unsafe extern "C" fn calloc_at_most_64_mib(
    ctx: *mut c_void,
    nelem: usize,
    elsize: usize,
) -> *mut c_void {
    if nelem.saturating_mul(elsize) > 64 << 20 {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::calloc(ctx, nelem, elsize) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_zeros_whole_pages: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_zeroing_whole_pages), ..CONFORMING });

unsafe extern "C" fn calloc_zeroing_whole_pages(
    ctx: *mut c_void,
    nelem: usize,
    elsize: usize,
) -> *mut c_void {
    let size = nelem.saturating_mul(elsize);
    // SAFETY: any size.
    let block = unsafe { conforming::malloc(ctx, size) };
    if !block.is_null() {
        // The defect: the bytes behind the last whole page of a large block stay as they are.
        let zeroed_bytes = if size > 1 << 20 { size & !4095 } else { size };
        // SAFETY: the block has at least so many bytes.
        unsafe { ptr::write_bytes(block.cast::<u8>(), 0, zeroed_bytes) };
    }
    block
}
