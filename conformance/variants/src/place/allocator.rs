//! The functions of the table, as a style has them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::place::{CUDA, Place, Status};

use super::system_memory;
pub(crate) use super::system_memory::Answer;

/// How an allocator does what the texts leave open.
pub(crate) trait Style {
    /// Pieces of memory are multiples of so many bytes.
    const GRANULE_BYTES: usize = 64;
    /// What is counted for each block besides its size.
    const HEADER_BYTES: usize = 0;
    /// How far behind the beginning of its piece a block begins.
    const SHIFT_BYTES: usize = 0;
    /// Whether a request for no bytes gets a block.
    const ZERO_IS_BLOCK: bool = false;
    /// Whether freed pieces are kept for requests of the same size.
    const KEEPS: bool = false;
    /// What a new block holds, in memory of the host.
    const CONTENT: Option<u8> = None;

    fn serves(_kind: i32) -> bool {
        true
    }

    fn take(place: Place, size_bytes: usize) -> Answer<usize> {
        system_memory::take(place, size_bytes)
    }

    fn give(place: Place, address: usize, size_bytes: usize) -> Answer {
        system_memory::give(place, address, size_bytes)
    }

    /// Gives memory that is cut into no block back to the system.
    fn trim(_place: Place) -> Answer<usize> {
        Ok(0)
    }
}

/// A block that is live.
#[derive(Debug, Clone, Copy)]
struct Live {
    /// The piece of memory in which it lies.
    piece: usize,
    piece_bytes: usize,
    counted_bytes: usize,
}

/// What is known of one place.
#[derive(Debug, Default)]
struct Books {
    live: BTreeMap<usize, Live>,
    kept: BTreeMap<usize, Vec<usize>>,
    used_bytes: usize,
}

/// By kind and device. A process uses one variant.
static BOOKS: Mutex<BTreeMap<(i32, i32), Books>> = Mutex::new(BTreeMap::new());

thread_local! {
    static LAST_ERROR: Cell<&'static str> = const { Cell::new("\0") };
}

fn books() -> MutexGuard<'static, BTreeMap<(i32, i32), Books>> {
    BOOKS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check<S: Style>(place: Place) -> Answer {
    if S::serves(place.kind) { system_memory::check(place) } else { Err(system_memory::NO_PLACE) }
}

/// Turns an answer into a status; `write` gets what the call returned.
pub(crate) fn answer<T>(answer: Answer<T>, write: impl FnOnce(T)) -> Status {
    match answer {
        Ok(value) => {
            write(value);
            Status::OK
        }
        Err((status, text)) => {
            LAST_ERROR.set(text);
            status
        }
    }
}

pub(crate) unsafe extern "C" fn last_error() -> *const c_char {
    LAST_ERROR.get().as_ptr().cast()
}

pub(crate) fn alloc<S: Style>(place: Place, size_bytes: usize) -> Answer<usize> {
    check::<S>(place)?;
    if size_bytes == 0 && !S::ZERO_IS_BLOCK {
        return Ok(0);
    }
    let piece_bytes = size_bytes
        .max(1)
        .checked_add(S::SHIFT_BYTES)
        .and_then(|sum| sum.checked_next_multiple_of(S::GRANULE_BYTES))
        .ok_or(system_memory::OUT_OF_MEMORY)?;
    let mut all = books();
    let books = all.entry((place.kind, place.device)).or_default();
    let kept = books.kept.get_mut(&piece_bytes).and_then(Vec::pop);
    let piece = match kept {
        Some(piece) => piece,
        None => match S::take(place, piece_bytes) {
            Err((Status::OUT_OF_MEMORY, _)) => {
                give_kept::<S>(books, place)?;
                S::take(place, piece_bytes)?
            }
            answer => answer?,
        },
    };
    let block = piece + S::SHIFT_BYTES;
    if let Some(byte) = S::CONTENT.filter(|_| place.kind != CUDA) {
        let bytes = std::ptr::with_exposed_provenance_mut::<u8>(block);
        // SAFETY: the piece has room for so many bytes behind the shift, and nobody has it yet.
        unsafe { bytes.write_bytes(byte, size_bytes) };
    }
    let counted_bytes = piece_bytes.saturating_add(S::HEADER_BYTES);
    books.live.insert(block, Live { piece, piece_bytes, counted_bytes });
    books.used_bytes += counted_bytes;
    Ok(block)
}

pub(crate) fn free<S: Style>(place: Place, address: usize) -> Answer {
    check::<S>(place)?;
    if address == 0 {
        return Ok(());
    }
    let mut all = books();
    let books = all.entry((place.kind, place.device)).or_default();
    let live = books.live.remove(&address).ok_or(system_memory::UNKNOWN_ADDRESS)?;
    books.used_bytes -= live.counted_bytes;
    if S::KEEPS {
        books.kept.entry(live.piece_bytes).or_default().push(live.piece);
        return Ok(());
    }
    S::give(place, live.piece, live.piece_bytes)
}

pub(crate) fn used<S: Style>(place: Place) -> Answer<usize> {
    check::<S>(place)?;
    Ok(books().get(&(place.kind, place.device)).map_or(0, |books| books.used_bytes))
}

pub(crate) fn release<S: Style>(place: Place) -> Answer<usize> {
    check::<S>(place)?;
    give_kept::<S>(books().entry((place.kind, place.device)).or_default(), place)
}

fn give_kept<S: Style>(books: &mut Books, place: Place) -> Answer<usize> {
    let mut given_bytes = 0;
    for (size_bytes, pieces) in std::mem::take(&mut books.kept) {
        for piece in pieces {
            S::give(place, piece, size_bytes)?;
            given_bytes += size_bytes;
        }
    }
    Ok(given_bytes + S::trim(place)?)
}
