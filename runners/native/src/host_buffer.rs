//! Pageable memory of the worker, for subjects to pin.

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Part of a mapping of its own, zeroed.
#[derive(Debug)]
pub(crate) struct HostBuffer {
    mapping: NonNull<u8>,
    mapping_bytes: usize,
    offset: usize,
    pub(crate) size_bytes: u64,
}

// SAFETY: a mapping belongs to the process; nothing here reads or writes through the pointer.
unsafe impl Send for HostBuffer {}
// SAFETY: as for Send.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// A buffer that begins `offset` bytes behind the beginning of its first page.
    pub(crate) fn new(size_bytes: u64, offset: u64) -> io::Result<Self> {
        let end = size_bytes.checked_add(offset).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapping_bytes = usize::try_from(end).map_err(io::Error::other)?.max(1);
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping wherever the kernel likes overlays nothing.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), mapping_bytes, protection, flags) }?;
        let mapping = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { mapping, mapping_bytes, offset, size_bytes })
    }

    pub(crate) fn address(&self) -> usize {
        self.mapping.as_ptr().expose_provenance() + self.offset
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        // SAFETY: our own mapping. Holders of pinned memory keep the buffer, so no subject counts
        // on it now.
        let _ = unsafe { munmap(self.mapping.as_ptr().cast(), self.mapping_bytes) };
    }
}
