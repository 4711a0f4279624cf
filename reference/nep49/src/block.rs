//! A block: memory of libc's heap with a header before its first byte.

use std::ffi::c_void;
use std::ptr;

use crate::counters::{Counters, Request};
use crate::header::{HEADER_BYTES, Header, header, release, seal};
use crate::{kept, thread};

/// Where a block begins. Vector instructions of 512 bits and cache lines have this size.
const ALIGNMENT_BYTES: usize = 64;
/// What libc's heap aligns to.
const HEAP_ALIGNMENT_BYTES: usize = 16;
/// Blocks of so many bytes ask for huge pages.
const HUGE_PAGES_FROM_BYTES: usize = 4 << 20;
const PAGE_BYTES: usize = 4096;
/// What a block needs beyond its size: the header, and the way to the next multiple of the
/// alignment.
const OVERHEAD_BYTES: usize = HEADER_BYTES + ALIGNMENT_BYTES - HEAP_ALIGNMENT_BYTES;

/// A block of at least `size_bytes`, or null.
#[inline]
pub(crate) fn take(size_bytes: usize) -> *mut c_void {
    let block = thread::take_kept(Request::Malloc, size_bytes);
    if block.is_null() {
        return take_new(size_bytes);
    }
    taken_again(block, size_bytes)
}

#[inline(never)]
fn take_new(size_bytes: usize) -> *mut c_void {
    let Some(total) = total_bytes(size_bytes) else { return failed() };
    // SAFETY: takes any size.
    let base = unsafe { libc::malloc(total) };
    // SAFETY: null, or so many bytes.
    unsafe { taken(base, Request::Malloc, size_bytes) }
}

/// A block of at least `size_bytes` zeros, or null. Pages that libc has fresh from the kernel are
/// not cleared a second time.
pub(crate) fn take_zeroed(size_bytes: usize) -> *mut c_void {
    let block = thread::take_kept(Request::Calloc, size_bytes);
    if !block.is_null() {
        // SAFETY: a block with so much room, which nobody uses.
        unsafe { block.cast::<u8>().write_bytes(0, size_bytes) };
        return taken_again(block, size_bytes);
    }
    let Some(total) = total_bytes(size_bytes) else { return failed() };
    // SAFETY: takes any size.
    let base = unsafe { libc::calloc(total, 1) };
    // SAFETY: null, or so many bytes.
    unsafe { taken(base, Request::Calloc, size_bytes) }
}

/// A block of another size with the bytes of the old one, or null; then the old one stays.
///
/// # Safety
/// `block` is an address that [`take`], [`take_zeroed`] or this function gave.
pub(crate) unsafe fn resize(block: *mut c_void, size_bytes: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let Some(old) = (unsafe { live_header(block, "realloc") }) else { return ptr::null_mut() };
    let Some(total) = total_bytes(size_bytes) else { return failed() };
    let (old_base, old_bytes) = (old.base, old.size_bytes);
    let offset = block.addr() - old_base.addr();
    // SAFETY: a live allocation of libc's.
    let base = unsafe { libc::realloc(old_base, total) };
    if base.is_null() {
        return failed();
    }
    let new = first_aligned(base);
    let kept = old_bytes.min(size_bytes);
    if new.addr() - base.addr() != offset {
        // SAFETY: libc moved the bytes with the allocation; both ranges lie in it, since it has
        // room for any offset.
        unsafe { ptr::copy(base.wrapping_byte_add(offset).cast::<u8>(), new.cast(), kept) };
    }
    // SAFETY: the header's room before a block.
    unsafe { write_header(new, base, size_bytes) };
    advise_huge_pages(base, size_bytes);
    thread::count(|counters| counters.resized(old_bytes, size_bytes));
    new
}

/// Gives a block back.
///
/// # Safety
/// As for [`resize`].
#[inline]
pub(crate) unsafe fn give(block: *mut c_void) {
    // SAFETY: the caller's promise.
    let Some(old) = (unsafe { live_header(block, "free") }) else { return };
    // A second free finds the header broken.
    old.seal = 0;
    let (size_bytes, room_bytes) = (old.size_bytes, old.room_bytes);
    // SAFETY: the block was alive until now.
    if !unsafe { thread::keep(block, size_bytes, room_bytes) } {
        // SAFETY: as above.
        unsafe { release(block) };
    }
}

/// Answers null.
#[cold]
pub(crate) fn failed() -> *mut c_void {
    thread::count(Counters::failed);
    ptr::null_mut()
}

/// What a block of so many bytes takes from libc; nothing if no number can express it.
fn total_bytes(size_bytes: usize) -> Option<usize> {
    kept::room_bytes(size_bytes).checked_add(OVERHEAD_BYTES)
}

/// A kept block is alive again.
#[inline]
fn taken_again(block: *mut c_void, size_bytes: usize) -> *mut c_void {
    // SAFETY: the header's room before a block of this handler, which nobody uses.
    let header = unsafe { &mut *header(block) };
    (header.seal, header.size_bytes) = (seal(block), size_bytes);
    block
}

/// # Safety
/// `base` is null, or an allocation of [`total_bytes`].
unsafe fn taken(base: *mut c_void, request: Request, size_bytes: usize) -> *mut c_void {
    if base.is_null() {
        return failed();
    }
    let block = first_aligned(base);
    // SAFETY: the header's room before a block.
    unsafe { write_header(block, base, size_bytes) };
    // After the header, which then takes one small page of a block that nobody fills.
    advise_huge_pages(base, size_bytes);
    thread::count(|counters| counters.given(request, size_bytes));
    block
}

/// Asks the kernel for huge pages where NumPy's own handler does: a large array is filled in half
/// of the time. It is a hint, so nobody looks at the answer.
fn advise_huge_pages(base: *mut c_void, size_bytes: usize) {
    if size_bytes < HUGE_PAGES_FROM_BYTES {
        return;
    }
    let first = base.addr().next_multiple_of(PAGE_BYTES);
    let length = base.addr() + size_bytes - first;
    // SAFETY: whole pages of an allocation of so many bytes; the hint changes no byte of them.
    unsafe { libc::madvise(base.with_addr(first), length, libc::MADV_HUGEPAGE) };
}

/// Writes the header of a live block.
///
/// # Safety
/// The bytes before `block` are those of its allocation, which has [`total_bytes`].
unsafe fn write_header(block: *mut c_void, base: *mut c_void, size_bytes: usize) {
    let room_bytes = kept::room_bytes(size_bytes);
    // SAFETY: the caller's promise; a block is aligned more strictly than a header.
    unsafe { header(block).write(Header { seal: seal(block), size_bytes, room_bytes, base }) };
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
#[inline]
unsafe fn live_header<'a>(block: *mut c_void, function: &str) -> Option<&'a mut Header> {
    if block.addr().is_multiple_of(ALIGNMENT_BYTES) {
        // SAFETY: the caller's promise, and aligned. Nobody else uses the header meanwhile.
        let found = unsafe { &mut *header(block) };
        if found.seal == seal(block) {
            return Some(found);
        }
    }
    refused(block, function);
    None
}

#[cold]
#[inline(never)]
fn refused(block: *mut c_void, function: &str) {
    thread::count(Counters::refused);
    eprintln!(
        "allocert_nep49: {function}({block:p}): this handler did not give this memory, or it was \
         given back before. It stays as it is; the caller has to be mended."
    );
}
