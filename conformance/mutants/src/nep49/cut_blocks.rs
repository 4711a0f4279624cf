//! A handler that cuts a block which shrinks, and gives the rest to others.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_grows_over_rest: StaticHandler = mutant(Allocator {
    malloc: Some(malloc),
    realloc: Some(realloc),
    free: Some(free),
    ..CONFORMING
});

/// What is cut off serves one request of at most so many bytes.
const PIECE_BYTES: usize = 1024;

/// Pieces that were cut off from other blocks.
struct Pieces {
    /// The next one to give out.
    free: Option<usize>,
    live: BTreeSet<usize>,
}

static PIECES: Mutex<Pieces> = Mutex::new(Pieces { free: None, live: BTreeSet::new() });

fn pieces() -> MutexGuard<'static, Pieces> {
    PIECES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pieces {
    fn take(&mut self) -> Option<usize> {
        let piece = self.free.take()?;
        self.live.insert(piece);
        Some(piece)
    }

    /// No piece of a block goes out after the block.
    fn forget(&mut self, block: usize, room_bytes: usize) {
        self.free.take_if(|piece| (block..block + room_bytes).contains(piece));
    }
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    let piece = if size <= PIECE_BYTES { pieces().take() } else { None };
    match piece {
        Some(piece) => ptr::with_exposed_provenance_mut(piece),
        // SAFETY: the same call.
        None => unsafe { conforming::malloc(ctx, size) },
    }
}

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    if pieces().live.contains(&block.addr()) {
        // SAFETY: a live piece of PIECE_BYTES.
        return unsafe { move_piece(ctx, block, size) };
    }
    // SAFETY: null or a live block of libc's.
    let room = unsafe { libc::malloc_usable_size(block) };
    let address = block.expose_provenance();
    if size > room || size == 0 {
        pieces().forget(address, room);
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    // The defect: a block that has room stays, whoever has got a piece of it.
    let piece = (address + size).next_multiple_of(16);
    if piece + PIECE_BYTES <= address + room {
        pieces().free = Some(piece);
    }
    block
}

/// # Safety
///
/// `piece` is live.
unsafe fn move_piece(ctx: *mut c_void, piece: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: any size.
    let new = unsafe { conforming::malloc(ctx, size) };
    if !new.is_null() {
        // SAFETY: both have so many bytes.
        unsafe { ptr::copy_nonoverlapping(piece.cast::<u8>(), new.cast(), size.min(PIECE_BYTES)) };
        pieces().live.remove(&piece.addr());
    }
    new
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let mut pieces = pieces();
    if pieces.live.remove(&block.addr()) {
        return;
    }
    // SAFETY: null or a live block of libc's.
    pieces.forget(block.addr(), unsafe { libc::malloc_usable_size(block) });
    drop(pieces);
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}
