//! Handlers that map large blocks.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_calloc_trusts_mapped: StaticHandler =
    mutant(Allocator { free: Some(free_keeping), ..MAPPING });

#[unsafe(no_mangle)]
static mutant_nep49_free_unmaps_size: StaticHandler =
    mutant(Allocator { free: Some(free_told_size), ..MAPPING });

#[unsafe(no_mangle)]
static mutant_nep49_free_unmaps_too_little: StaticHandler =
    mutant(Allocator { free: Some(free_at_most_told_size), ..MAPPING });

/// Conforms but for free().
const MAPPING: Allocator =
    Allocator { malloc: Some(malloc), calloc: Some(calloc), realloc: Some(realloc), ..CONFORMING };

/// Requests for so many bytes are mapped.
const LARGE_BYTES: usize = 128 << 10;
const PAGE_BYTES: usize = 4096;

/// The sizes of the live blocks that are mapped, by address, and of those that are kept.
struct Blocks {
    live: BTreeMap<usize, usize>,
    kept: Vec<(usize, usize)>,
}

static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks { live: BTreeMap::new(), kept: Vec::new() });

fn blocks() -> MutexGuard<'static, Blocks> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    if size < LARGE_BYTES {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    let Some(mapped_bytes) = size.checked_next_multiple_of(PAGE_BYTES) else {
        return ptr::null_mut();
    };
    let mut blocks = blocks();
    if let Some(index) = blocks.kept.iter().position(|(_, kept)| *kept >= mapped_bytes) {
        let (address, kept_bytes) = blocks.kept.swap_remove(index);
        blocks.live.insert(address, kept_bytes);
        return address as *mut c_void;
    }
    let block = conforming::map(mapped_bytes);
    if block.is_null() {
        return block;
    }
    blocks.live.insert(block.expose_provenance(), mapped_bytes);
    block
}

/// Clears small blocks alone. A new mapping is zeros, a kept one is not.
unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    match nelem.checked_mul(elsize) {
        // SAFETY: the same call.
        Some(size) if size >= LARGE_BYTES => unsafe { malloc(ctx, size) },
        // SAFETY: the same call.
        _ => unsafe { conforming::calloc(ctx, nelem, elsize) },
    }
}

/// Never resizes in place: the old block is given back in full.
unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    let mapped = blocks().live.get(&block.addr()).copied();
    if mapped.is_none() && size < LARGE_BYTES {
        // SAFETY: null or a live block of libc's.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    // SAFETY: the same call.
    let new = unsafe { malloc(ctx, size) };
    if new.is_null() || block.is_null() {
        return new;
    }
    // SAFETY: a block that is not mapped is libc's.
    let old_size = mapped.unwrap_or_else(|| unsafe { libc::malloc_usable_size(block) });
    // SAFETY: both blocks have so many bytes.
    unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old_size.min(size)) };
    match blocks().live.remove(&block.addr()) {
        // SAFETY: a live mapping of so many bytes.
        Some(mapped_bytes) => unsafe {
            libc::munmap(block, mapped_bytes);
        },
        // SAFETY: a live block of libc's.
        None => unsafe { conforming::free(ctx, block, old_size) },
    }
    new
}

/// Keeps what is mapped.
unsafe extern "C" fn free_keeping(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let mut blocks = blocks();
    match blocks.live.remove(&block.addr()) {
        Some(mapped_bytes) => blocks.kept.push((block.addr(), mapped_bytes)),
        // SAFETY: null or a live block of libc's.
        None => unsafe { conforming::free(ctx, block, size) },
    }
}

unsafe extern "C" fn free_told_size(ctx: *mut c_void, block: *mut c_void, size: usize) {
    // SAFETY: the same call.
    unsafe { free_unmapping(ctx, block, size, usize::MAX) }
}

unsafe extern "C" fn free_at_most_told_size(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let mapped_bytes = blocks().live.get(&block.addr()).copied().unwrap_or(0);
    // SAFETY: the same call.
    unsafe { free_unmapping(ctx, block, size, mapped_bytes) }
}

/// Unmaps as many bytes as it is told, at most `limit`.
unsafe fn free_unmapping(ctx: *mut c_void, block: *mut c_void, size: usize, limit: usize) {
    if blocks().live.remove(&block.addr()).is_none() {
        // SAFETY: null or a live block of libc's.
        return unsafe { conforming::free(ctx, block, size) };
    }
    let told_bytes = size.max(1).next_multiple_of(PAGE_BYTES).min(limit);
    // SAFETY: not guaranteed: the mapping may be shorter, which is the violation. The case has
    // blocks of its own behind it.
    unsafe { libc::munmap(block, told_bytes) };
}
