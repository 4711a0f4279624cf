//! Broken `malloc`.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

const PAGE_BYTES: usize = 4096;
const HEADER_BYTES: usize = 64;

#[unsafe(no_mangle)]
static mutant_nep49_small_blocks_only: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_at_most_1_mib), ..CONFORMING });

unsafe extern "C" fn malloc_at_most_1_mib(ctx: *mut c_void, size: usize) -> *mut c_void {
    if size > 1 << 20 {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_at_most_64_mib: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_at_most_64_mib), ..CONFORMING });

unsafe extern "C" fn malloc_at_most_64_mib(ctx: *mut c_void, size: usize) -> *mut c_void {
    if size > 64 << 20 {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_short_last_page: StaticHandler = mutant(Allocator {
    malloc: Some(malloc_without_last_page),
    realloc: Some(realloc_or_mapped),
    free: Some(free_or_mapped),
    ..CONFORMING
});

/// Maps what is larger than a page, and protects its last page.
unsafe extern "C" fn malloc_without_last_page(ctx: *mut c_void, size: usize) -> *mut c_void {
    if size <= PAGE_BYTES || size > isize::MAX as usize {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    let length = size.next_multiple_of(PAGE_BYTES);
    let block = conforming::map(length);
    if block.is_null() {
        return block;
    }
    // SAFETY: the last page of this mapping.
    unsafe {
        libc::mprotect(block.wrapping_byte_add(length - PAGE_BYTES), PAGE_BYTES, libc::PROT_NONE)
    };
    block
}

/// What is mapped moves to the heap, as far as it can be read.
unsafe extern "C" fn realloc_or_mapped(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    if block.is_null() || !block.addr().is_multiple_of(PAGE_BYTES) {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    // SAFETY: the same call.
    let new = unsafe { conforming::malloc(ctx, size) };
    if !new.is_null() {
        // SAFETY: the first page of a mapping can be read.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), size.min(1)) };
    }
    new
}

unsafe extern "C" fn free_or_mapped(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if !block.addr().is_multiple_of(PAGE_BYTES) {
        // SAFETY: the same call.
        unsafe { conforming::free(ctx, block, size) }
    }
}

#[unsafe(no_mangle)]
static mutant_nep49_read_only_block: StaticHandler = mutant(Allocator {
    malloc: Some(malloc_read_only),
    realloc: Some(realloc_or_mapped),
    free: Some(free_or_mapped),
    ..CONFORMING
});

/// So many blocks there are for each that cannot be written.
const READ_ONLY_EACH: usize = 50;
static TAKEN: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn malloc_read_only(ctx: *mut c_void, size: usize) -> *mut c_void {
    let number = TAKEN.fetch_add(1, Ordering::SeqCst);
    if size > isize::MAX as usize || number % READ_ONLY_EACH != READ_ONLY_EACH - 1 {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    let length = size.next_multiple_of(PAGE_BYTES);
    let block = conforming::map(length);
    if !block.is_null() {
        // SAFETY: the whole of a new mapping.
        unsafe { libc::mprotect(block, length, libc::PROT_READ) };
    }
    block
}

#[unsafe(no_mangle)]
static mutant_nep49_same_block_again: StaticHandler = mutant(Allocator {
    malloc: Some(malloc_twice),
    realloc: Some(conforming::realloc_by_copy),
    free: Some(conforming::free_nothing),
    ..CONFORMING
});

static LAST: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static LAST_SIZE: AtomicUsize = AtomicUsize::new(0);

/// Every second request for the same size gets the block of the first one. Only the main thread's
/// requests do: otherwise a race of several threads decides which requirement shows first.
unsafe extern "C" fn malloc_twice(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: it only asks for the number of the thread.
    let thread = unsafe { libc::gettid() };
    // SAFETY: it only asks for the number of the process, which the main thread has too.
    if thread != unsafe { libc::getpid() } {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    let last = LAST.swap(ptr::null_mut(), Ordering::SeqCst);
    if !last.is_null() && LAST_SIZE.load(Ordering::SeqCst) == size {
        return last;
    }
    // SAFETY: the same call.
    let block = unsafe { conforming::malloc(ctx, size) };
    LAST.store(block, Ordering::SeqCst);
    LAST_SIZE.store(size, Ordering::SeqCst);
    block
}

#[unsafe(no_mangle)]
static mutant_nep49_aligned_to_8: StaticHandler = mutant(Allocator {
    malloc: Some(malloc_odd),
    calloc: Some(calloc_odd),
    realloc: Some(realloc_odd),
    free: Some(free_odd),
    ..CONFORMING
});

/// What lies before a block that is moved on by 8 bytes.
const SHIFT_BYTES: usize = 8;

fn shifted(base: *mut c_void) -> *mut c_void {
    if base.is_null() { base } else { base.wrapping_byte_add(SHIFT_BYTES) }
}

fn unshifted(block: *mut c_void) -> *mut c_void {
    if block.is_null() { block } else { block.wrapping_byte_sub(SHIFT_BYTES) }
}

unsafe extern "C" fn malloc_odd(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the same call with a larger size.
    shifted(unsafe { conforming::malloc(ctx, size.saturating_add(SHIFT_BYTES)) })
}

unsafe extern "C" fn calloc_odd(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    let size = nelem.saturating_mul(elsize).saturating_add(SHIFT_BYTES);
    // SAFETY: the same call with a larger size.
    shifted(unsafe { conforming::calloc(ctx, size, 1) })
}

unsafe extern "C" fn realloc_odd(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: libc gave the address before the block.
    shifted(unsafe { conforming::realloc(ctx, unshifted(block), size.saturating_add(SHIFT_BYTES)) })
}

unsafe extern "C" fn free_odd(ctx: *mut c_void, block: *mut c_void, size: usize) {
    // SAFETY: as in realloc_odd.
    unsafe { conforming::free(ctx, unshifted(block), size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_size_wraps: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_wrapping), ..CONFORMING });

/// Adds the room for a header to the size, and does not look whether the sum fits.
unsafe extern "C" fn malloc_wrapping(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the same call with another size.
    unsafe { conforming::malloc(ctx, size.wrapping_add(HEADER_BYTES)) }
}

#[unsafe(no_mangle)]
static mutant_nep49_realloc_wraps: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_wrapping), ..CONFORMING });

unsafe extern "C" fn realloc_wrapping(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: the same call with another size.
    unsafe { conforming::realloc(ctx, block, size.wrapping_add(HEADER_BYTES)) }
}

#[unsafe(no_mangle)]
static mutant_nep49_calloc_header_wraps: StaticHandler =
    mutant(Allocator { calloc: Some(calloc_wrapping), ..CONFORMING });

unsafe extern "C" fn calloc_wrapping(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    let Some(bytes) = nelem.checked_mul(elsize) else { return ptr::null_mut() };
    // SAFETY: the same call with another size.
    unsafe { conforming::calloc(ctx, 1, bytes.wrapping_add(HEADER_BYTES)) }
}

#[unsafe(no_mangle)]
static mutant_nep49_at_most_1_gib: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_at_most_1_gib), ..CONFORMING });

/// Serves requests of any size by 1 GiB.
unsafe extern "C" fn malloc_at_most_1_gib(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the same call with another size.
    unsafe { conforming::malloc(ctx, size.min(1 << 30)) }
}
