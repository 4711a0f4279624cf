//! A list of free blocks without a lock, whose first block may come back unnoticed.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_swapped_free_list: StaticHandler = mutant(Allocator {
    malloc: Some(malloc),
    calloc: Some(calloc),
    realloc: Some(realloc),
    free: Some(free),
    ..CONFORMING
});

/// What lies before each block. The links are apart from the bytes of the host, so that no byte of
/// the host is taken for a link.
#[repr(C, align(16))]
struct Header {
    next: AtomicPtr<Header>,
    /// Of the block.
    capacity: usize,
}

/// The first free block of [`LISTED_BYTES`].
static HEAD: AtomicPtr<Header> = AtomicPtr::new(ptr::null_mut());
const LISTED_BYTES: usize = 256;

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    if size <= LISTED_BYTES {
        loop {
            let head = HEAD.load(Ordering::Acquire);
            if head.is_null() {
                break;
            }
            // SAFETY: a block of the list, which nobody gives back to libc.
            let next = unsafe { (*head).next.load(Ordering::Relaxed) };
            // Another thread may have taken both blocks by now, and given the first one back.
            if HEAD.compare_exchange(head, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return head.wrapping_add(1).cast();
            }
        }
    }
    let capacity = size.max(LISTED_BYTES);
    let Some(bytes) = capacity.checked_add(size_of::<Header>()) else { return ptr::null_mut() };
    // SAFETY: any size.
    let header: *mut Header = unsafe { conforming::malloc(ctx, bytes) }.cast();
    if header.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: a new block with room for a header.
    unsafe { header.write(Header { next: AtomicPtr::new(ptr::null_mut()), capacity }) };
    header.wrapping_add(1).cast()
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if block.is_null() {
        return;
    }
    let header = block.cast::<Header>().wrapping_sub(1);
    // SAFETY: a live block of malloc(), which has a header.
    if unsafe { (*header).capacity } > LISTED_BYTES {
        // SAFETY: the address that libc gave.
        return unsafe { conforming::free(ctx, header.cast(), size) };
    }
    let mut head = HEAD.load(Ordering::Relaxed);
    loop {
        // SAFETY: as above.
        unsafe { (*header).next.store(head, Ordering::Relaxed) };
        match HEAD.compare_exchange(head, header, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    let Some(size) = nelem.checked_mul(elsize) else { return ptr::null_mut() };
    // SAFETY: the same call.
    let block = unsafe { malloc(ctx, size) };
    if !block.is_null() {
        // SAFETY: a block of so many bytes.
        unsafe { block.cast::<u8>().write_bytes(0, size) };
    }
    block
}

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the same call.
    let new = unsafe { malloc(ctx, size) };
    if new.is_null() || block.is_null() {
        return new;
    }
    // SAFETY: a live block of malloc(), which has a header.
    let old_size = unsafe { (*block.cast::<Header>().wrapping_sub(1)).capacity };
    // SAFETY: both blocks have so many bytes.
    unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old_size.min(size)) };
    // SAFETY: a live block, freed once.
    unsafe { free(ctx, block, old_size) };
    new
}
