//! The header that lies before a block.

use std::ffi::c_void;

pub(crate) const HEADER_BYTES: usize = size_of::<Header>();

/// Lies directly before the block.
#[repr(C, align(16))]
pub(crate) struct Header {
    /// [`seal`] of a block that is alive.
    pub(crate) seal: usize,
    /// As asked for.
    pub(crate) size_bytes: usize,
    /// The most that the block has room for.
    pub(crate) room_bytes: usize,
    /// What libc gave.
    pub(crate) base: *mut c_void,
}

/// What the header of a live block at this address has. It is nothing that a program writes there
/// by chance, and the header of a copied block does not have it.
#[inline]
pub(crate) fn seal(block: *mut c_void) -> usize {
    block.addr() ^ 0x616c_6c6f_6365_7274
}

/// Where the header of a block lies.
#[inline]
pub(crate) fn header(block: *mut c_void) -> *mut Header {
    block.wrapping_byte_sub(HEADER_BYTES).cast()
}

/// Gives the memory of a block that was kept back to libc.
///
/// # Safety
/// `block` was given back, and nobody else keeps it.
pub(crate) unsafe fn release(block: *mut c_void) {
    // SAFETY: the header of a block that was given back still says where its memory begins.
    let base = unsafe { (*header(block)).base };
    // SAFETY: an allocation of libc's, freed once.
    unsafe { libc::free(base) };
}
