//! Handlers that map large blocks, and keep some bytes of each mapping before the block.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

/// What the context of a handler points to.
struct Layout {
    /// Requests for so many bytes are mapped.
    large_bytes: usize,
    /// So many bytes of a mapping lie before the block.
    before_bytes: usize,
}

static MISALIGNED: Layout = Layout { large_bytes: 8 << 20, before_bytes: 24 };
static ALIGNED: Layout = Layout { large_bytes: 64 << 10, before_bytes: 16 };

#[unsafe(no_mangle)]
static mutant_nep49_large_aligned_to_8: StaticHandler = mutant(Allocator {
    ctx: (&raw const MISALIGNED).cast_mut().cast(),
    malloc: Some(malloc),
    realloc: Some(realloc_moving),
    free: Some(free),
    ..CONFORMING
});

#[unsafe(no_mangle)]
static mutant_nep49_unmaps_end_of_block: StaticHandler = mutant(Allocator {
    ctx: (&raw const ALIGNED).cast_mut().cast(),
    malloc: Some(malloc),
    realloc: Some(realloc_unmapping),
    free: Some(free),
    ..CONFORMING
});

const PAGE_BYTES: usize = 4096;

/// The bytes of the mapping of each live block that has one, by the block's address.
static MAPPINGS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn mappings() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// # Safety
///
/// `ctx` is the context of a handler of this file.
unsafe fn layout(ctx: *mut c_void) -> &'static Layout {
    // SAFETY: the caller passes the address of a static.
    unsafe { &*ctx.cast() }
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the handler's own context.
    let layout = unsafe { layout(ctx) };
    if size < layout.large_bytes || size > isize::MAX as usize {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    let mapping_bytes = (size + layout.before_bytes).next_multiple_of(PAGE_BYTES);
    let begin = conforming::map(mapping_bytes);
    if begin.is_null() {
        return begin;
    }
    let block = begin.wrapping_byte_add(layout.before_bytes);
    mappings().insert(block.addr(), mapping_bytes);
    block
}

unsafe extern "C" fn realloc_moving(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    let Some(mapping_bytes) = mappings().get(&block.addr()).copied() else {
        // SAFETY: null or a live block of libc's.
        return unsafe { conforming::realloc(ctx, block, size) };
    };
    // SAFETY: any size.
    let new = unsafe { malloc(ctx, size) };
    if !new.is_null() {
        // SAFETY: the handler's own context.
        let old_bytes = mapping_bytes - unsafe { layout(ctx) }.before_bytes;
        // SAFETY: both blocks have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old_bytes.min(size)) };
        // SAFETY: the caller gave the block up.
        unsafe { free(ctx, block, old_bytes) };
    }
    new
}

/// Shrinks a mapped block in its place, to the pages that the new size fills.
unsafe extern "C" fn realloc_unmapping(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    let mut mappings = mappings();
    let Some(mapping_bytes) = mappings.get_mut(&block.addr()) else {
        drop(mappings);
        // SAFETY: null or a live block of libc's.
        return unsafe { conforming::realloc(ctx, block, size) };
    };
    // SAFETY: the handler's own context.
    let before_bytes = unsafe { layout(ctx) }.before_bytes;
    if size == 0 || size > *mapping_bytes - before_bytes {
        drop(mappings);
        // SAFETY: the same call.
        return unsafe { realloc_moving(ctx, block, size) };
    }
    // The defect: the bytes before the block need room too.
    let kept_bytes = size.next_multiple_of(PAGE_BYTES);
    if kept_bytes < *mapping_bytes {
        let rest = block.wrapping_byte_sub(before_bytes).wrapping_byte_add(kept_bytes);
        // SAFETY: whole pages at the end of a mapping of this handler.
        unsafe { libc::munmap(rest, *mapping_bytes - kept_bytes) };
        *mapping_bytes = kept_bytes;
    }
    block
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let Some(mapping_bytes) = mappings().remove(&block.addr()) else {
        // SAFETY: the same call.
        return unsafe { conforming::free(ctx, block, size) };
    };
    // SAFETY: the handler's own context.
    let begin = block.wrapping_byte_sub(unsafe { layout(ctx) }.before_bytes);
    // SAFETY: a mapping of this handler, unmapped once.
    unsafe { libc::munmap(begin, mapping_bytes) };
}
