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
