//! Handlers that lose a part of what comes back.

use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

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

/// From so many bytes on a block is large.
const LARGE_BYTES: usize = 16 << 10;

/// Up to so many bytes a block is small.
const SMALL_BYTES: usize = 512;

fn usable_bytes(block: *mut c_void) -> usize {
    // SAFETY: null or a live block of libc's.
    unsafe { libc::malloc_usable_size(block) }
}

#[unsafe(no_mangle)]
static mutant_nep49_leaks_small_that_grows: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_keeping_small), ..CONFORMING });

unsafe extern "C" fn realloc_keeping_small(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    if usable_bytes(block) > SMALL_BYTES || size < LARGE_BYTES {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    // SAFETY: the same call.
    unsafe { conforming::realloc_by_copy(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_leaks_large_that_shrinks: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_keeping_large), ..CONFORMING });

unsafe extern "C" fn realloc_keeping_large(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    if usable_bytes(block) < LARGE_BYTES || size > SMALL_BYTES {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    // SAFETY: the same call.
    unsafe { conforming::realloc_by_copy(ctx, block, size) }
}

/// Blocks of libc's have up to so many bytes more than were asked for.
const MORE_BYTES: usize = 24;

#[unsafe(no_mangle)]
static mutant_nep49_leaks_at_same_size: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_keeping_same), ..CONFORMING });

unsafe extern "C" fn realloc_keeping_same(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    if block.is_null() || usable_bytes(block).wrapping_sub(size) > MORE_BYTES {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    // SAFETY: the same call.
    unsafe { conforming::realloc_by_copy(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_leaks_zeros: StaticHandler = mutant(Allocator {
    calloc: Some(calloc_listed),
    realloc: Some(realloc_listed),
    free: Some(free_unlisted),
    ..CONFORMING
});

/// The blocks of calloc(), by address.
static ZEROED: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);

fn zeroed() -> MutexGuard<'static, HashSet<usize>> {
    ZEROED.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn calloc_listed(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: the same call.
    let block = unsafe { conforming::calloc(ctx, nelem, elsize) };
    zeroed().insert(block.addr());
    block
}

unsafe extern "C" fn realloc_listed(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: the same call.
    let new = unsafe { conforming::realloc(ctx, block, size) };
    if !new.is_null() {
        zeroed().remove(&block.addr());
    }
    new
}

unsafe extern "C" fn free_unlisted(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if !zeroed().contains(&block.addr()) {
        // SAFETY: the same call.
        unsafe { conforming::free(ctx, block, size) }
    }
}

#[unsafe(no_mangle)]
static mutant_nep49_realloc_forgets_zeros: StaticHandler = mutant(Allocator {
    calloc: Some(calloc_listed),
    realloc: Some(realloc_forgetting_listed),
    ..CONFORMING
});

/// Copies only what malloc() and realloc() gave.
unsafe extern "C" fn realloc_forgetting_listed(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    let was_zeroed = zeroed().remove(&block.addr());
    // SAFETY: the same call.
    let new = unsafe { conforming::realloc(ctx, block, size) };
    if was_zeroed && !new.is_null() {
        // SAFETY: a new block of so many bytes.
        unsafe { new.cast::<u8>().write_bytes(0, size) };
    }
    new
}

#[unsafe(no_mangle)]
static mutant_nep49_leaks_small: StaticHandler =
    mutant(Allocator { free: Some(free_but_small), ..CONFORMING });

unsafe extern "C" fn free_but_small(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if usable_bytes(block) > SMALL_BYTES {
        // SAFETY: the same call.
        unsafe { conforming::free(ctx, block, size) }
    }
}

#[unsafe(no_mangle)]
static mutant_nep49_leaks_above_2_mib: StaticHandler =
    mutant(Allocator { free: Some(free_up_to_2_mib), ..CONFORMING });

unsafe extern "C" fn free_up_to_2_mib(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if usable_bytes(block) < 2 << 20 {
        // SAFETY: the same call.
        unsafe { conforming::free(ctx, block, size) }
    }
}
