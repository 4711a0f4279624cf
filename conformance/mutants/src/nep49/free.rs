//! Broken `free`, and functions that are broken on several threads.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_free_of_null_clears: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_noted), free: Some(free_of_last), ..CONFORMING });

/// The block that was given last.
static NOTED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn malloc_noted(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the same call.
    let block = unsafe { conforming::malloc(ctx, size) };
    NOTED.store(block, Ordering::SeqCst);
    block
}

/// Clears the first byte of a block before it frees it, and takes null for the last block.
unsafe extern "C" fn free_of_last(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let cleared = if block.is_null() { NOTED.load(Ordering::SeqCst) } else { block };
    if !cleared.is_null() {
        // SAFETY: a block of at least one byte.
        unsafe { cleared.cast::<u8>().write_volatile(0) };
    }
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_free_trusts_size: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_last_freed), free: Some(free_by_size), ..CONFORMING });

/// The block that was freed last, and the size that free() was told.
static FREED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static FREED_SIZE: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn malloc_last_freed(ctx: *mut c_void, size: usize) -> *mut c_void {
    if FREED_SIZE.load(Ordering::SeqCst) >= size {
        let freed = FREED.swap(ptr::null_mut(), Ordering::SeqCst);
        if !freed.is_null() {
            return freed;
        }
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

unsafe extern "C" fn free_by_size(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if block.is_null() {
        return;
    }
    FREED_SIZE.store(size, Ordering::SeqCst);
    let earlier = FREED.swap(block, Ordering::SeqCst);
    // SAFETY: null or a block that was freed and not given out again.
    unsafe { conforming::free(ctx, earlier, 0) };
}

#[unsafe(no_mangle)]
static mutant_nep49_free_overwrites_size: StaticHandler =
    mutant(Allocator { free: Some(free_overwriting), ..CONFORMING });

/// Overwrites as many bytes as it is told before it frees the block.
unsafe extern "C" fn free_overwriting(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if block.is_null() {
        return;
    }
    // SAFETY: not guaranteed: the block may be shorter, which is the violation. The case has blocks
    // of its own there.
    unsafe { block.cast::<u8>().write_bytes(0xdd, size) };
    // SAFETY: the same call; libc's free() uses the bytes, so the compiler keeps the write.
    unsafe { conforming::free(ctx, std::hint::black_box(block), size) };
}

#[unsafe(no_mangle)]
static mutant_nep49_free_does_nothing: StaticHandler =
    mutant(Allocator { free: Some(free_nothing), ..CONFORMING });

unsafe extern "C" fn free_nothing(_: *mut c_void, _: *mut c_void, _: usize) {}

#[unsafe(no_mangle)]
static mutant_nep49_free_keeps: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_of_64_mib), free: Some(free_late), ..CONFORMING });

/// All that was ever asked for, freed or not.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Has 64 MiB in all, and serves nothing from what came back.
unsafe extern "C" fn malloc_of_64_mib(ctx: *mut c_void, size: usize) -> *mut c_void {
    if size <= 1 << 20 && TAKEN.fetch_add(size, Ordering::SeqCst) > 64 << 20 {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

unsafe extern "C" fn free_late(ctx: *mut c_void, block: *mut c_void, size: usize) {
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_blocks_of_a_thread: StaticHandler = mutant(Allocator {
    malloc: Some(malloc_of_thread),
    realloc: Some(realloc_of_thread),
    ..CONFORMING
});

thread_local! {
    static OWN: RefCell<HashMap<usize, usize>> = RefCell::default();
}

unsafe extern "C" fn malloc_of_thread(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the same call.
    let block = unsafe { conforming::malloc(ctx, size) };
    OWN.with_borrow_mut(|own| own.insert(block.addr(), size));
    block
}

/// Knows only blocks that its own thread got.
unsafe extern "C" fn realloc_of_thread(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    let known = block.is_null() || OWN.with_borrow_mut(|own| own.remove(&block.addr())).is_some();
    if !known {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    let new = unsafe { conforming::realloc(ctx, block, size) };
    let kept = if new.is_null() { block } else { new };
    OWN.with_borrow_mut(|own| own.insert(kept.addr(), size));
    new
}

#[unsafe(no_mangle)]
static mutant_nep49_unlocked_free_list: StaticHandler = mutant(Allocator {
    malloc: Some(malloc_from_list),
    calloc: Some(calloc_for_list),
    realloc: Some(realloc_for_list),
    free: Some(free_to_list),
    ..CONFORMING
});

/// A list of free blocks of at least [`LISTED_BYTES`], linked through their first word.
static HEAD: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
const LISTED_BYTES: usize = 256;

/// Takes the first block in two steps that another thread can come between.
unsafe extern "C" fn malloc_from_list(ctx: *mut c_void, size: usize) -> *mut c_void {
    let head = HEAD.load(Ordering::SeqCst);
    if head.is_null() || size > LISTED_BYTES {
        // SAFETY: the same call with a size that the list takes.
        return unsafe { conforming::malloc(ctx, size.max(LISTED_BYTES)) };
    }
    std::thread::yield_now();
    // SAFETY: a block of the list, which nobody frees.
    let next = unsafe { head.cast::<*mut c_void>().read_volatile() };
    std::thread::yield_now();
    // A link that somebody wrote over ends the list.
    let next = if next.addr().is_multiple_of(16) && next.addr() >> 47 == 0 && next.addr() > 4096 {
        next
    } else {
        ptr::null_mut()
    };
    HEAD.store(next, Ordering::SeqCst);
    head
}

unsafe extern "C" fn calloc_for_list(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: the same call with a size that the list takes.
    unsafe { conforming::calloc(ctx, nelem.saturating_mul(elsize).max(LISTED_BYTES), 1) }
}

unsafe extern "C" fn realloc_for_list(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: the same call with a size that the list takes.
    unsafe { conforming::realloc(ctx, block, size.max(LISTED_BYTES)) }
}

unsafe extern "C" fn free_to_list(ctx: *mut c_void, block: *mut c_void, size: usize) {
    // SAFETY: null or a live block of libc's.
    if block.is_null() || unsafe { libc::malloc_usable_size(block) } > 2 * LISTED_BYTES {
        // SAFETY: the same call.
        return unsafe { conforming::free(ctx, block, size) };
    }
    let head = HEAD.load(Ordering::SeqCst);
    // SAFETY: a block of at least so many bytes that its owner gave back.
    unsafe { block.cast::<*mut c_void>().write_volatile(head) };
    std::thread::yield_now();
    HEAD.store(block, Ordering::SeqCst);
}

#[unsafe(no_mangle)]
static mutant_nep49_unlocked_list_of_400: StaticHandler = mutant(Allocator {
    malloc: Some(malloc_from_middle),
    free: Some(free_to_middle),
    ..CONFORMING
});

/// A list of free blocks of at least [`MIDDLE_BYTES`], linked through their first word.
static MIDDLE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
const MIDDLE_BYTES: usize = 400;

/// Takes the first block of the list in two steps, and nobody else comes between them but where a
/// thread stops there.
unsafe extern "C" fn malloc_from_middle(ctx: *mut c_void, size: usize) -> *mut c_void {
    if !(LISTED_BYTES + 1..=MIDDLE_BYTES).contains(&size) {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    let head = MIDDLE.load(Ordering::SeqCst);
    if head.is_null() {
        // SAFETY: any size.
        return unsafe { conforming::malloc(ctx, MIDDLE_BYTES) };
    }
    // SAFETY: a block of the list, or one that another thread has taken and not unmapped.
    let next = unsafe { head.cast::<*mut c_void>().read_volatile() };
    MIDDLE.store(next, Ordering::SeqCst);
    head
}

unsafe extern "C" fn free_to_middle(ctx: *mut c_void, block: *mut c_void, size: usize) {
    // SAFETY: null or a live block of libc's.
    let usable = unsafe { libc::malloc_usable_size(block) };
    if !(MIDDLE_BYTES..MIDDLE_BYTES + 16).contains(&usable) {
        // SAFETY: the same call.
        return unsafe { conforming::free(ctx, block, size) };
    }
    let head = MIDDLE.load(Ordering::SeqCst);
    // SAFETY: a block of at least so many bytes that its owner gave back.
    unsafe { block.cast::<*mut c_void>().write_volatile(head) };
    MIDDLE.store(block, Ordering::SeqCst);
}
