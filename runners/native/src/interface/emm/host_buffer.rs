//! Pageable memory of the worker, for subjects to pin.

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// A page-aligned mapping of its own, zeroed.
#[derive(Debug)]
pub(crate) struct HostBuffer {
    base: NonNull<u8>,
    pub(crate) size_bytes: u64,
}

// SAFETY: a mapping belongs to the process; nothing here reads or writes through the pointer.
unsafe impl Send for HostBuffer {}
// SAFETY: as for Send.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    pub(crate) fn new(size_bytes: u64) -> io::Result<Self> {
        let length = usize::try_from(size_bytes).map_err(io::Error::other)?.max(1);
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping wherever the kernel likes overlays nothing.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), length, protection, flags) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, size_bytes })
    }

    pub(crate) fn address(&self) -> usize {
        self.base.as_ptr().expose_provenance()
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        let length = usize::try_from(self.size_bytes).unwrap_or(0).max(1);
        // SAFETY: our own mapping. Holders of pinned memory keep the buffer, so no subject counts
        // on it now.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), length) };
    }
}
