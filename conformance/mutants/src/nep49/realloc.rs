//! Broken `realloc`.

use std::ffi::c_void;
use std::ptr;

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_realloc_forgets: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_without_copy), ..CONFORMING });

unsafe extern "C" fn realloc_without_copy(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: any size.
    let new = unsafe { conforming::calloc(ctx, size, 1) };
    if !new.is_null() {
        // SAFETY: null or a live block.
        unsafe { conforming::free(ctx, block, size) };
    }
    new
}

#[unsafe(no_mangle)]
static mutant_nep49_realloc_frees_first: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_after_free), ..CONFORMING });

/// Overwrites and frees the old block also where there is no new one.
unsafe extern "C" fn realloc_after_free(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: any size.
    let new = unsafe { conforming::calloc(ctx, size, 1) };
    if block.is_null() {
        return new;
    }
    // SAFETY: a live block of libc's.
    let old = unsafe { libc::malloc_usable_size(block) };
    if new.is_null() {
        // SAFETY: so many bytes of a live block.
        unsafe { block.cast::<u8>().write_bytes(0xdd, old) };
        return new;
    }
    // SAFETY: both blocks have so many bytes.
    unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old.min(size)) };
    // SAFETY: a live block, freed once.
    unsafe { conforming::free(ctx, block, old) };
    new
}

#[unsafe(no_mangle)]
static mutant_nep49_realloc_frees_old: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_freeing), ..CONFORMING });

/// Frees the old block also where there is no new one. Others get it.
unsafe extern "C" fn realloc_freeing(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: the same call.
    let new = unsafe { conforming::realloc(ctx, block, size) };
    if new.is_null() {
        // SAFETY: null or a live block, which the host frees again: that is the violation.
        unsafe { conforming::free(ctx, block, size) };
    }
    new
}

#[unsafe(no_mangle)]
static mutant_nep49_realloc_never_shrinks: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_growing), ..CONFORMING });

unsafe extern "C" fn realloc_growing(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: null or a live block of libc's.
    if !block.is_null() && unsafe { libc::malloc_usable_size(block) } > size.saturating_add(64) {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::realloc(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_realloc_of_null_fails: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_of_blocks), ..CONFORMING });

unsafe extern "C" fn realloc_of_blocks(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    if block.is_null() {
        return block;
    }
    // SAFETY: the same call.
    unsafe { conforming::realloc(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_realloc_keeps_old: StaticHandler =
    mutant(Allocator { realloc: Some(conforming::realloc_by_copy), ..CONFORMING });
