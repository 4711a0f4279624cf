//! A handler that keeps what is freed in a list, which is full some day.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_full_free_list: StaticHandler =
    mutant(Allocator { malloc: Some(malloc), free: Some(free), ..CONFORMING });

/// Blocks of the list have so many bytes, as the C library says.
const ROOM_BYTES: usize = 408;
/// The list has room for so many.
const MOST_BLOCKS: usize = 256;

/// The addresses of freed blocks.
static LIST: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<usize>> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    if !(ROOM_BYTES / 2..=ROOM_BYTES).contains(&size) {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    let kept = list().pop();
    // SAFETY: any size.
    kept.map_or_else(
        || unsafe { conforming::malloc(ctx, ROOM_BYTES) },
        ptr::with_exposed_provenance_mut,
    )
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    // SAFETY: null or a live block of libc's.
    let room_bytes = unsafe { libc::malloc_usable_size(block) };
    if room_bytes != ROOM_BYTES {
        // SAFETY: the same call.
        return unsafe { conforming::free(ctx, block, size) };
    }
    let mut list = list();
    // The defect: a block that finds no room in the list is lost.
    if list.len() < MOST_BLOCKS {
        list.push(block.expose_provenance());
    }
}
