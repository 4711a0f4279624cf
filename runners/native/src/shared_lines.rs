//! The child's lines, in memory that it shares with the session. A crash loses none of them, and
//! the child needs no system call for a line.

use std::io::{self, Write};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use serde::Serialize;

const SIZE_BYTES: usize = 64 * 1024;
const CAPACITY_BYTES: usize = SIZE_BYTES - size_of::<AtomicUsize>();

/// One shared mapping: how many bytes wait, then the bytes. The child alone writes; the server
/// reads once the child is gone.
#[derive(Debug)]
pub(crate) struct SharedLines {
    base: NonNull<u8>,
    scratch: Vec<u8>,
    /// Sends each line at once, where no server is left to send what waits.
    at_once: bool,
}

impl SharedLines {
    pub(crate) fn new(at_once: bool) -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping wherever the kernel likes overlays nothing.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), SIZE_BYTES, protection, flags) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, scratch: Vec::with_capacity(512), at_once })
    }

    /// Adds a line. It leaves with the next [`SharedLines::flush`], or when the memory is full.
    pub(crate) fn push(
        &mut self,
        socket: &mut impl Write,
        line: &impl Serialize,
    ) -> io::Result<()> {
        self.scratch.clear();
        serde_json::to_writer(&mut self.scratch, line)?;
        self.scratch.push(b'\n');
        if self.scratch.len() > CAPACITY_BYTES - self.waiting() {
            self.flush(socket)?;
        }
        if self.scratch.len() > CAPACITY_BYTES {
            return socket.write_all(&self.scratch);
        }
        let waiting = self.waiting();
        // SAFETY: inside the mapping: `waiting` plus this line is at most CAPACITY_BYTES, as
        // checked above.
        let end = unsafe { self.text().add(waiting) };
        // SAFETY: the mapping is writable, and no reference to it exists while the child writes.
        unsafe { ptr::copy_nonoverlapping(self.scratch.as_ptr(), end, self.scratch.len()) };
        self.count().store(waiting + self.scratch.len(), Ordering::Release);
        if self.at_once { self.flush(socket) } else { Ok(()) }
    }

    /// Sends what waits.
    pub(crate) fn flush(&mut self, socket: &mut impl Write) -> io::Result<()> {
        let waiting = self.waiting();
        // SAFETY: initialised bytes inside the mapping, see `waiting`; nobody writes them during
        // the call.
        socket.write_all(unsafe { std::slice::from_raw_parts(self.text(), waiting) })?;
        self.count().store(0, Ordering::Release);
        Ok(())
    }

    /// The subject can reach this number, so it is never trusted beyond the mapping's size.
    fn waiting(&self) -> usize {
        self.count().load(Ordering::Acquire).min(CAPACITY_BYTES)
    }

    fn count(&self) -> &AtomicUsize {
        // SAFETY: the mapping is page-aligned, zeroed when it is made, and lives as long as self.
        unsafe { self.base.cast::<AtomicUsize>().as_ref() }
    }

    fn text(&self) -> *mut u8 {
        // SAFETY: inside the mapping, whose first word is the count.
        unsafe { self.base.as_ptr().add(size_of::<AtomicUsize>()) }
    }
}

impl Drop for SharedLines {
    fn drop(&mut self) {
        // SAFETY: our own mapping, and nothing borrows from it any more. Failing leaves it mapped,
        // no more.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), SIZE_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_order_also_when_one_is_longer_than_the_memory() {
        let mut lines = SharedLines::new(false).expect("64 KiB");
        let mut sent = Vec::new();
        let long = "x".repeat(2 * SIZE_BYTES);
        for line in ["first", &long, "last"] {
            lines.push(&mut sent, &line).expect("a Vec takes everything");
        }
        assert!(
            sent.starts_with(b"\"first\"\n\"xxx"),
            "the short line waits no longer than the long one"
        );
        assert!(!sent.ends_with(b"\"last\"\n"));
        lines.flush(&mut sent).expect("a Vec takes everything");
        assert!(sent.ends_with(b"xxx\"\n\"last\"\n"));
    }
}
