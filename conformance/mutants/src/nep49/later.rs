//! Calls that go wrong later: the handler does not forget what an earlier call did.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

/// No request of a case that can be served is so large.
const TOO_MUCH_BYTES: usize = 1 << 46;

/// The block that was resized last, or that could not be.
static BLOCK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static SIZE_BYTES: AtomicUsize = AtomicUsize::new(0);

#[unsafe(no_mangle)]
static mutant_nep49_failed_realloc_forgets: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_once), ..CONFORMING });

/// Copies nothing for a block whose last realloc() failed.
unsafe extern "C" fn realloc_once(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    if size > TOO_MUCH_BYTES {
        BLOCK.store(block, SeqCst);
        return ptr::null_mut();
    }
    if block.is_null() || BLOCK.swap(ptr::null_mut(), SeqCst) != block {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    // SAFETY: a live block.
    unsafe { conforming::free(ctx, block, size) };
    // SAFETY: any size.
    unsafe { conforming::calloc(ctx, size, 1) }
}

#[unsafe(no_mangle)]
static mutant_nep49_clears_what_is_left: StaticHandler = mutant(Allocator {
    calloc: Some(calloc_kept),
    realloc: Some(realloc_shrinking_in_place),
    free: Some(free_keeping),
    ..CONFORMING
});

/// A freed block that was shrunk in place, and its first size.
static KEPT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Shrinks one block in place and remembers its first size.
unsafe extern "C" fn realloc_shrinking_in_place(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: null or a live block of libc's.
    let room = unsafe { libc::malloc_usable_size(block) };
    if size >= room || size == 0 {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    BLOCK.store(block, SeqCst);
    SIZE_BYTES.store(room, SeqCst);
    block
}

unsafe extern "C" fn free_keeping(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let was_shrunk = !block.is_null() && BLOCK.swap(ptr::null_mut(), SeqCst) == block;
    if was_shrunk && KEPT.compare_exchange(ptr::null_mut(), block, SeqCst, SeqCst).is_ok() {
        // SAFETY: the block has 16 bytes and more; what was cut off stays as it is.
        unsafe { block.cast::<u8>().write_bytes(0, size.min(16)) };
        return;
    }
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

unsafe extern "C" fn calloc_kept(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    let fits = nelem.saturating_mul(elsize) <= SIZE_BYTES.load(SeqCst);
    let kept = if fits { KEPT.swap(ptr::null_mut(), SeqCst) } else { ptr::null_mut() };
    if !kept.is_null() {
        return kept;
    }
    // SAFETY: the same call.
    unsafe { conforming::calloc(ctx, nelem, elsize) }
}

#[unsafe(no_mangle)]
static mutant_nep49_1024_blocks: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_of_few), free: Some(free_of_few), ..CONFORMING });

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Has a table for so many blocks.
unsafe extern "C" fn malloc_of_few(ctx: *mut c_void, size: usize) -> *mut c_void {
    if LIVE.fetch_add(1, SeqCst) >= 1024 {
        LIVE.fetch_sub(1, SeqCst);
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

unsafe extern "C" fn free_of_few(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if !block.is_null() {
        let _ = LIVE.fetch_update(SeqCst, SeqCst, |live| Some(live.saturating_sub(1)));
    }
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_ignores_free_of_size_0: StaticHandler =
    mutant(Allocator { free: Some(free_of_some_size), ..CONFORMING });

unsafe extern "C" fn free_of_some_size(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if size > 0 {
        // SAFETY: the same call.
        unsafe { conforming::free(ctx, block, size) }
    }
}

#[unsafe(no_mangle)]
static mutant_nep49_aborts_at_exit_after_free: StaticHandler =
    mutant(Allocator { free: Some(free_noted), ..CONFORMING });

static FREED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn free_noted(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if !block.is_null() && !FREED.swap(true, SeqCst) {
        // SAFETY: a function without arguments.
        unsafe { libc::atexit(end) };
    }
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

extern "C" fn end() {
    std::process::abort();
}

#[unsafe(no_mangle)]
static mutant_nep49_large_blocks_stay: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_up_to_16_mib), ..CONFORMING });

/// Grows no block of 16 MiB or more.
unsafe extern "C" fn realloc_up_to_16_mib(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: null or a live block of libc's.
    let room = unsafe { libc::malloc_usable_size(block) };
    if room >= 16 << 20 && size > room {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::realloc(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_trusts_large: StaticHandler = mutant(Allocator {
    calloc: Some(calloc_trusting),
    free: Some(free_keeping_large),
    ..CONFORMING
});

const LARGE_BYTES: usize = 4 << 20;

/// Keeps one freed block of 4 MiB or more.
unsafe extern "C" fn free_keeping_large(ctx: *mut c_void, block: *mut c_void, size: usize) {
    // SAFETY: null or a live block of libc's.
    let room = unsafe { libc::malloc_usable_size(block) };
    let free = || KEPT.compare_exchange(ptr::null_mut(), block, SeqCst, SeqCst).is_ok();
    if room >= LARGE_BYTES && free() {
        return SIZE_BYTES.store(room, SeqCst);
    }
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

/// Takes the kept block for zeros.
unsafe extern "C" fn calloc_trusting(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    let size_bytes = nelem.saturating_mul(elsize);
    if size_bytes < LARGE_BYTES {
        // SAFETY: the same call.
        return unsafe { conforming::calloc(ctx, nelem, elsize) };
    }
    // SAFETY: the same call.
    unsafe { calloc_kept(ctx, nelem, elsize) }
}
