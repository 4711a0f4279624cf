//! The conforming handler: libc's functions and nothing else.

use std::ffi::c_void;
use std::ptr;

use allocert_abi::nep49::{Allocator, Handler, StaticHandler};

/// libc's functions.
pub(crate) const CONFORMING: Allocator = Allocator {
    ctx: ptr::null_mut(),
    malloc: Some(malloc),
    calloc: Some(calloc),
    realloc: Some(realloc),
    free: Some(free),
};

#[unsafe(no_mangle)]
static mutant_nep49_conforming: StaticHandler = mutant(CONFORMING);

/// A handler with these functions.
pub(crate) const fn mutant(allocator: Allocator) -> StaticHandler {
    StaticHandler(Handler::new("mutant", allocator))
}

pub(crate) unsafe extern "C" fn malloc(_ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: takes any size.
    unsafe { libc::malloc(size) }
}

pub(crate) unsafe extern "C" fn calloc(
    _ctx: *mut c_void,
    nelem: usize,
    elsize: usize,
) -> *mut c_void {
    // SAFETY: takes any sizes.
    unsafe { libc::calloc(nelem, elsize) }
}

pub(crate) unsafe extern "C" fn realloc(
    _ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: the caller passes null or a live block of this handler.
    unsafe { libc::realloc(block, size) }
}

/// A new mapping that can be read and written, or null.
pub(crate) fn map(bytes: usize) -> *mut c_void {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the system's choice.
    let begin = unsafe { libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0) };
    if begin == libc::MAP_FAILED { ptr::null_mut() } else { begin }
}

/// Copies into a new block, and keeps the old one.
pub(crate) unsafe extern "C" fn realloc_by_copy(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: any size.
    let new = unsafe { malloc(ctx, size) };
    if !new.is_null() && !block.is_null() {
        // SAFETY: a live block of libc's.
        let old = unsafe { libc::malloc_usable_size(block) };
        // SAFETY: both blocks have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old.min(size)) };
    }
    new
}

/// Takes no block back.
pub(crate) unsafe extern "C" fn free_nothing(_: *mut c_void, _: *mut c_void, _: usize) {}

pub(crate) unsafe extern "C" fn free(_ctx: *mut c_void, block: *mut c_void, _size: usize) {
    // SAFETY: as for realloc.
    unsafe { libc::free(block) }
}
