//! Pageable memory of the worker, for subjects to pin.

use std::io;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use allocert_suite::observation::Facts;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use serde_json::json;

use crate::names::{Halt, Named};
use crate::scene::Scene;
use crate::subject::{facts, trouble};

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
    fn new(size_bytes: u64) -> io::Result<Self> {
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

impl Scene<'_> {
    pub(crate) fn host_buffer(&mut self, size_bytes: u64, name: &str) -> Result<Facts, Halt> {
        let buffer = HostBuffer::new(size_bytes).map_err(|error| {
            trouble("MemoryError", format!("host_buffer of {size_bytes} bytes: {error}"), None)
        })?;
        let facts =
            facts([("host_pointer", json!(buffer.address())), ("size_bytes", json!(size_bytes))]);
        self.names.bind(name, Named::Buffer(Arc::new(buffer)));
        Ok(facts)
    }
}
