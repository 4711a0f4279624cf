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

#[unsafe(no_mangle)]
static mutant_nep49_shrinks_large_at_head: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_losing_head), ..CONFORMING });

/// Loses the first byte of a block of more than 8 MiB that shrinks.
unsafe extern "C" fn realloc_losing_head(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: null or a live block of libc's.
    let old = unsafe { libc::malloc_usable_size(block) };
    // SAFETY: the same call.
    let new = unsafe { conforming::realloc(ctx, block, size) };
    if old > 8 << 20 && size < old && size > 0 && !new.is_null() {
        // SAFETY: the first byte of a block.
        unsafe { new.cast::<u8>().write(0) };
    }
    new
}

#[unsafe(no_mangle)]
static mutant_nep49_shrinks_to_odd_place: StaticHandler = mutant(Allocator {
    realloc: Some(realloc_to_odd_place),
    free: Some(free_at_odd_place),
    ..CONFORMING
});

/// How far behind the begin of libc's block a block lies: not at all, or 8 bytes.
fn odd_bytes(block: *mut c_void) -> usize {
    block.addr() % 16
}

/// Moves a block that shrinks by a tenth or more to 8 bytes behind a multiple of 16.
unsafe extern "C" fn realloc_to_odd_place(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    if block.is_null() {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    let odd = odd_bytes(block);
    // SAFETY: where libc's block begins.
    let old_bytes = unsafe { libc::malloc_usable_size(block.wrapping_byte_sub(odd)) } - odd;
    let shrinks = size > 0 && size < old_bytes / 10 * 9;
    if odd == 0 && !shrinks {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    let behind = if shrinks { 8 } else { 0 };
    let Some(new_bytes) = size.checked_add(behind) else { return ptr::null_mut() };
    // SAFETY: any size.
    let new = unsafe { conforming::malloc(ctx, new_bytes) };
    if new.is_null() {
        return new;
    }
    // SAFETY: the new block has so many bytes more.
    let new = unsafe { new.byte_add(behind) };
    // SAFETY: both blocks have so many bytes.
    unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old_bytes.min(size)) };
    // SAFETY: a live block of this handler, freed once.
    unsafe { free_at_odd_place(ctx, block, size) };
    new
}

unsafe extern "C" fn free_at_odd_place(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let begin = if block.is_null() { block } else { block.wrapping_byte_sub(odd_bytes(block)) };
    // SAFETY: where libc's block begins, or null.
    unsafe { conforming::free(ctx, begin, size) }
}
