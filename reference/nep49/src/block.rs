//! A block: memory of libc's heap with a header before its first byte.

use std::ffi::c_void;
use std::ptr;

use crate::counters::Counters;
use crate::header::{HEADER_BYTES, Header, header, seal, write_header};
use crate::thread;

/// Where a block begins. Vector instructions of 512 bits and cache lines have this size.
const ALIGNMENT_BYTES: usize = 64;
/// What libc's heap aligns to.
const HEAP_ALIGNMENT_BYTES: usize = 16;
/// What a block needs beyond its size: the header, and the way to the next multiple of the
/// alignment.
const OVERHEAD_BYTES: usize = HEADER_BYTES + ALIGNMENT_BYTES - HEAP_ALIGNMENT_BYTES;

/// A block of at least `size_bytes`, or null.
pub(crate) fn take(size_bytes: usize) -> *mut c_void {
    if let Some(block) = thread::take_kept(size_bytes) {
        return taken_again(block, size_bytes);
    }
    let Some(total) = total_bytes(size_bytes) else { return ptr::null_mut() };
    // SAFETY: takes any size.
    let base = unsafe { libc::malloc(total) };
    // SAFETY: null, or so many bytes.
    unsafe { taken(base, size_bytes) }
}

/// A block of at least `size_bytes` zeros, or null. Pages that libc has fresh from the kernel are
/// not cleared a second time.
pub(crate) fn take_zeroed(size_bytes: usize) -> *mut c_void {
    if let Some(block) = thread::take_kept(size_bytes) {
        // SAFETY: a block with so much room, which nobody uses.
        unsafe { block.cast::<u8>().write_bytes(0, size_bytes) };
        return taken_again(block, size_bytes);
    }
    let Some(total) = total_bytes(size_bytes) else { return ptr::null_mut() };
    // SAFETY: takes any size.
    let base = unsafe { libc::calloc(total, 1) };
    // SAFETY: null, or so many bytes.
    unsafe { taken(base, size_bytes) }
}

/// A block of another size with the bytes of the old one, or null; then the old one stays.
///
/// # Safety
/// `block` is an address that [`take`], [`take_zeroed`] or this function gave.
pub(crate) unsafe fn resize(block: *mut c_void, size_bytes: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let Some(old) = (unsafe { live_header(block, "realloc") }) else { return ptr::null_mut() };
    let Some(total) = total_bytes(size_bytes) else { return ptr::null_mut() };
    let offset = block.addr() - old.base.addr();
    // SAFETY: a live allocation of libc's.
    let base = unsafe { libc::realloc(old.base, total) };
    if base.is_null() {
        return base;
    }
    let new = first_aligned(base);
    let kept = old.size_bytes.min(size_bytes);
    if new.addr() - base.addr() != offset {
        // SAFETY: libc moved the bytes with the allocation; both ranges lie in it, since it has
        // room for any offset.
        unsafe { ptr::copy(base.wrapping_byte_add(offset).cast::<u8>(), new.cast(), kept) };
    }
    // SAFETY: the header's room before a block.
    unsafe { write_header(new, base, size_bytes) };
    thread::count(|counters| counters.resized(old.size_bytes, size_bytes));
    new
}

/// Gives a block back.
///
/// # Safety
/// As for [`resize`].
pub(crate) unsafe fn give(block: *mut c_void) {
    // SAFETY: the caller's promise.
    let Some(old) = (unsafe { live_header(block, "free") }) else { return };
    // SAFETY: the header that was just read. A second free finds it broken.
    unsafe { (*header(block)).seal = 0 };
    if !thread::keep(block, old.size_bytes) {
        // SAFETY: a live allocation of libc's, given back once.
        unsafe { libc::free(old.base) };
    }
}

/// What a block of so many bytes takes from libc; nothing if no number can express it.
fn total_bytes(size_bytes: usize) -> Option<usize> {
    thread::room_bytes(size_bytes).checked_add(OVERHEAD_BYTES)
}

/// A kept block is alive again.
fn taken_again(block: *mut c_void, size_bytes: usize) -> *mut c_void {
    // SAFETY: the header's room before a block of this handler, which nobody uses.
    let header = unsafe { &mut *header(block) };
    (header.seal, header.size_bytes) = (seal(block), size_bytes);
    block
}

/// # Safety
/// `base` is null, or an allocation of [`total_bytes`].
unsafe fn taken(base: *mut c_void, size_bytes: usize) -> *mut c_void {
    if base.is_null() {
        return base;
    }
    let block = first_aligned(base);
    // SAFETY: the header's room before a block.
    unsafe { write_header(block, base, size_bytes) };
    thread::count(|counters| counters.taken(size_bytes));
    block
}

/// The first address in an allocation that leaves room for the header and is aligned.
fn first_aligned(base: *mut c_void) -> *mut c_void {
    let block = (base.addr() + HEADER_BYTES).next_multiple_of(ALIGNMENT_BYTES);
    base.with_addr(block)
}

/// The header of a live block. Memory that this handler did not give, or that was given back
/// before, stays as it is: whoever passed it is told on stderr.
///
/// # Safety
/// The bytes before `block` can be read.
unsafe fn live_header(block: *mut c_void, function: &str) -> Option<Header> {
    if !block.addr().is_multiple_of(ALIGNMENT_BYTES) {
        return refused(block, function);
    }
    // SAFETY: the caller's promise, and aligned.
    let found = unsafe { header(block).read() };
    if found.seal == seal(block) { Some(found) } else { refused(block, function) }
}

#[cold]
fn refused(block: *mut c_void, function: &str) -> Option<Header> {
    thread::count(Counters::refused);
    eprintln!(
        "allocert_nep49: {function}({block:p}): this handler did not give this memory, or it was \
         given back before. It stays as it is; the caller has to be mended."
    );
    None
}
