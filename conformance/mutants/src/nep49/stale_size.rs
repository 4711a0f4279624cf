//! A handler that remembers the size of each block, and forgets to when a block grows in its place.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_grows_with_old_size: StaticHandler = mutant(Allocator {
    malloc: Some(malloc),
    realloc: Some(realloc),
    free: Some(free),
    ..CONFORMING
});

/// Larger blocks are libc's alone.
const LARGEST_BYTES: usize = 1 << 20;

struct Block {
    size_bytes: usize,
    room_bytes: usize,
}

/// The live blocks that malloc() returned, by address.
static BLOCKS: Mutex<BTreeMap<usize, Block>> = Mutex::new(BTreeMap::new());

fn blocks() -> MutexGuard<'static, BTreeMap<usize, Block>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    if size > LARGEST_BYTES {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    let room_bytes = size.next_power_of_two();
    // SAFETY: any size.
    let block = unsafe { conforming::malloc(ctx, room_bytes) };
    if !block.is_null() {
        blocks().insert(block.addr(), Block { size_bytes: size, room_bytes });
    }
    block
}

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    let blocks = blocks();
    let Some(Block { size_bytes, room_bytes }) = blocks.get(&block.addr()) else {
        drop(blocks);
        // SAFETY: null or a live block of libc's.
        return unsafe { conforming::realloc(ctx, block, size) };
    };
    // The defect: the block has another size now.
    if size <= *room_bytes {
        return block;
    }
    let kept_bytes = *size_bytes;
    drop(blocks);
    // SAFETY: any size.
    let new = unsafe { malloc(ctx, size) };
    if !new.is_null() {
        // SAFETY: both blocks have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), kept_bytes) };
        // SAFETY: the caller gave the block up.
        unsafe { free(ctx, block, kept_bytes) };
    }
    new
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    blocks().remove(&block.addr());
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}
