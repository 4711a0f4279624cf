//! The header that lies before a block.

use std::ffi::c_void;

pub(crate) const HEADER_BYTES: usize = size_of::<Header>();

/// Lies directly before the block.
#[repr(C, align(16))]
pub(crate) struct Header {
    /// [`seal`] of a block that is alive.
    pub(crate) seal: usize,
    pub(crate) size_bytes: usize,
    /// What libc gave.
    pub(crate) base: *mut c_void,
}

/// What the header of a live block at this address has. It is nothing that a program writes there
/// by chance, and the header of a copied block does not have it.
pub(crate) fn seal(block: *mut c_void) -> usize {
    block.addr() ^ 0x616c_6c6f_6365_7274
}

/// Where the header of a block lies.
pub(crate) fn header(block: *mut c_void) -> *mut Header {
    block.wrapping_byte_sub(HEADER_BYTES).cast()
}

/// Writes the header of a live block.
///
/// # Safety
/// The bytes before `block` are those of its allocation.
pub(crate) unsafe fn write_header(block: *mut c_void, base: *mut c_void, size_bytes: usize) {
    // SAFETY: the caller's promise; a block is aligned more strictly than a header.
    unsafe { header(block).write(Header { seal: seal(block), size_bytes, base }) };
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
