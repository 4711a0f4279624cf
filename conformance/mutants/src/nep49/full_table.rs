//! A handler that remembers the sizes of its blocks in a table, which is full some day.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_full_size_table: StaticHandler = mutant(Allocator {
    malloc: Some(malloc),
    calloc: Some(calloc),
    realloc: Some(realloc),
    free: Some(free),
    ..CONFORMING
});

/// The table has room for so many blocks.
const MOST_BLOCKS: usize = 1024;

/// Sizes in bytes, by address.
static SIZES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn sizes() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    SIZES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(block: *mut c_void, size_bytes: usize) -> *mut c_void {
    let mut sizes = sizes();
    // The defect: the size of a block that finds no room is not known later.
    if !block.is_null() && sizes.len() < MOST_BLOCKS {
        sizes.insert(block.addr(), size_bytes);
    }
    block
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the same call.
    remember(unsafe { conforming::malloc(ctx, size) }, size)
}

unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: the same call.
    remember(unsafe { conforming::calloc(ctx, nelem, elsize) }, nelem.saturating_mul(elsize))
}

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: any size.
    let new = unsafe { conforming::malloc(ctx, size) };
    if new.is_null() || block.is_null() {
        return remember(new, size);
    }
    let kept_bytes = sizes().remove(&block.addr()).unwrap_or(0).min(size);
    // SAFETY: both blocks have so many bytes.
    unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), kept_bytes) };
    // SAFETY: the caller gave the block up.
    unsafe { conforming::free(ctx, block, kept_bytes) };
    remember(new, size)
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    sizes().remove(&block.addr());
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}
