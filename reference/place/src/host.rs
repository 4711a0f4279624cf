//! Memory of the process, from `mmap`.

use std::ptr;

use allocert_pool::Region;

use crate::Error;
use crate::guarded::HostMemory;

const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The system allocator of the CPU place. A page takes memory once somebody writes to it. Chunks
/// ask for huge pages: most programs fill their blocks, and free() then reads the guard behind each
/// block much sooner.
#[derive(Debug)]
pub(crate) struct Host;

impl HostMemory for Host {
    const SURVIVES_FORK: bool = true;

    fn reserve(&self, size_bytes: u64) -> Result<u64, Error> {
        let length = usize::try_from(size_bytes).map_err(|_| Error::OutOfMemory)?;
        // With room for the way to the next huge page.
        let whole = length.checked_add(HUGE_PAGE_BYTES).ok_or(Error::OutOfMemory)?;
        let base = map(whole).ok_or(Error::OutOfMemory)?;
        let chunk = base.next_multiple_of(HUGE_PAGE_BYTES);
        unmap(base, chunk - base);
        unmap(chunk + length, base + whole - chunk - length);
        advise_huge_pages(chunk, length);
        Ok(chunk as u64)
    }

    fn give_back(&self, chunk: Region) -> bool {
        unmap(chunk.address as usize, chunk.size_bytes as usize);
        true
    }
}

/// New pages that nobody has written to, wherever the kernel has some.
fn map(length: usize) -> Option<usize> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: no memory in use changes.
    let pages = unsafe { libc::mmap(ptr::null_mut(), length, access, kind, -1, 0) };
    (pages != libc::MAP_FAILED).then(|| pages.expose_provenance())
}

/// Gives pages of [`map`] back, in which nobody has memory.
fn unmap(address: usize, length: usize) {
    if length != 0 {
        // SAFETY: pages of this allocator that nobody uses.
        unsafe { libc::munmap(ptr::with_exposed_provenance_mut(address), length) };
    }
}

/// A hint, so nobody looks at the answer.
fn advise_huge_pages(address: usize, length: usize) {
    let pages = ptr::with_exposed_provenance_mut(address);
    // SAFETY: pages of this allocator; the hint changes no byte of them.
    unsafe { libc::madvise(pages, length, libc::MADV_HUGEPAGE) };
}
