//! Broken `calloc`.

use std::ffi::c_void;
use std::ptr;

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::plain::{self, PLAIN, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_calloc_is_malloc: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_not_zeroed), ..PLAIN });

unsafe extern "C" fn calloc_not_zeroed(
    ctx: *mut c_void,
    nelem: usize,
    elsize: usize,
) -> *mut c_void {
    // SAFETY: any size.
    unsafe { plain::malloc(ctx, nelem.saturating_mul(elsize)) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_ignores_elsize: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_of_bytes), ..PLAIN });

unsafe extern "C" fn calloc_of_bytes(
    ctx: *mut c_void,
    nelem: usize,
    _elsize: usize,
) -> *mut c_void {
    // SAFETY: any size.
    unsafe { plain::calloc(ctx, nelem, 1) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_wraps: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_wrapping), ..PLAIN });

unsafe extern "C" fn calloc_wrapping(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: any size.
    unsafe { plain::calloc(ctx, nelem.wrapping_mul(elsize), 1) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_refuses: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_at_most_1_mib), ..PLAIN });

unsafe extern "C" fn calloc_at_most_1_mib(
    ctx: *mut c_void,
    nelem: usize,
    elsize: usize,
) -> *mut c_void {
    if nelem.saturating_mul(elsize) > 1 << 20 {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { plain::calloc(ctx, nelem, elsize) }
}
