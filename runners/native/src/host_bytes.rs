//! Bytes of the process, written and read in chunks at addresses that may be wrong.

use std::ffi::c_void;
use std::fs::File;
use std::os::unix::fs::FileExt;

use allocert_suite::observation::{Facts, Raised};
use rustix::mm::{Advice, madvise};
use serde_json::json;

use crate::checked_memory;
use crate::step_result::{error_of_worker, facts};

/// How much is copied at a time.
const CHUNK_BYTES: u64 = 64 * 1024;
/// Room for the seven numbers of `/proc/self/statm`.
const STATM_BYTES: usize = 256;
const PAGE_BYTES: u64 = 4096;

/// Tells how much memory a process has.
pub(crate) struct ProcessMemory {
    /// Opened once: a file of the system for each measure costs more than most calls of a subject.
    file: Option<File>,
    page_bytes: u64,
}

impl ProcessMemory {
    /// Of this process. A fork of it needs one of its own.
    pub(crate) fn of_this_process() -> Self {
        let page_bytes = rustix::param::page_size() as u64;
        Self { file: File::open("/proc/self/statm").ok(), page_bytes }
    }

    /// What has pages, in bytes; 0 where the system does not tell.
    pub(crate) fn resident_bytes(&self) -> u64 {
        self.field(1)
    }

    /// All that is mapped, with pages and without, in bytes; 0 where the system does not tell.
    pub(crate) fn mapped_bytes(&self) -> u64 {
        self.field(0)
    }

    fn field(&self, index: usize) -> u64 {
        let mut text = [0; STATM_BYTES];
        let read = self.file.as_ref().and_then(|file| file.read_at(&mut text, 0).ok());
        let text = std::str::from_utf8(&text[..read.unwrap_or(0)]).unwrap_or_default();
        let pages = text.split(' ').nth(index).and_then(|count| count.parse().ok());
        pages.unwrap_or(0_u64) * self.page_bytes
    }
}

/// The most memory of the process that had pages at a time, in bytes; 0 where the system does not
/// tell.
pub(crate) fn peak_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Has the system give pages to all bytes of a block, and writes a byte to its first and last ones.
/// Costs a quarter of [`fill`] for 1 MiB with pages, and two thirds without. One that cannot be
/// written is found when it is read.
pub(crate) fn occupy(address: usize, size_bytes: u64, byte: u8) {
    let middle_bytes = size_bytes.saturating_sub(2 * PAGE_BYTES);
    if middle_bytes == 0 || populate(address, size_bytes).is_err() {
        let _ = fill(address, size_bytes, byte);
        return;
    }
    let last = address.wrapping_add((size_bytes - PAGE_BYTES) as usize);
    let _ = fill(address, PAGE_BYTES, byte).and_then(|()| fill(last, PAGE_BYTES, byte));
}

/// Fails where a page cannot be written, for memory of a device, and on systems before Linux 5.14.
fn populate(address: usize, size_bytes: u64) -> rustix::io::Result<()> {
    let begin = address & !(PAGE_BYTES as usize - 1);
    let length = address.wrapping_add(size_bytes as usize).wrapping_sub(begin);
    // SAFETY: no byte changes, and no mapping: pages that are there stay, others become zeros as a
    // write would make them. The system refuses addresses that are not mapped.
    unsafe { madvise(begin as *mut c_void, length, Advice::LinuxPopulateWrite) }
}

/// Writes a byte to `size_bytes` bytes from `address` on.
pub(crate) fn fill(address: usize, size_bytes: u64, byte: u8) -> Result<(), Raised> {
    let chunk = vec![byte; chunk_length(size_bytes)];
    for (at, length) in chunks(size_bytes) {
        if checked_memory::write(address.wrapping_add(at), &chunk[..length]) < length {
            return Err(unreachable_memory("written", address, size_bytes));
        }
    }
    Ok(())
}

/// Whether `size_bytes` bytes from `address` on can be read and have this value.
pub(crate) fn holds(address: usize, size_bytes: u64, byte: u8) -> bool {
    let read = read_uniform(size_bytes, |at, target| {
        read_chunk(address.wrapping_add(at), target, size_bytes)
    });
    read.is_ok_and(|facts| facts.get("uniform") == Some(&json!(byte)))
}

/// Reads one chunk at `address`, which lies in memory of `size_bytes`.
pub(crate) fn read_chunk(address: usize, target: &mut [u8], size_bytes: u64) -> Result<(), Raised> {
    if checked_memory::read(address, target) < target.len() {
        return Err(unreachable_memory("read", address, size_bytes));
    }
    Ok(())
}

/// Reads `size_bytes` bytes by `read_chunk`, which gets the offset of a chunk and its buffer. The
/// facts are `uniform`, the value of all bytes if they are equal, and `bytes_read`.
pub(crate) fn read_uniform<E>(
    size_bytes: u64,
    mut read_chunk: impl FnMut(usize, &mut [u8]) -> Result<(), E>,
) -> Result<Facts, E> {
    let mut chunk = vec![0; chunk_length(size_bytes)];
    let (mut uniform, mut bytes_read) = (None, 0);
    for (at, length) in chunks(size_bytes) {
        read_chunk(at, &mut chunk[..length])?;
        uniform = merge(uniform, &chunk[..length], at == 0);
        bytes_read += length;
    }
    Ok(facts([("uniform", json!(uniform)), ("bytes_read", json!(bytes_read))]))
}

/// The largest buffer that a chunk of so much memory needs.
pub(crate) fn chunk_length(size_bytes: u64) -> usize {
    size_bytes.min(CHUNK_BYTES) as usize
}

/// Offset and length of each chunk.
pub(crate) fn chunks(size_bytes: u64) -> impl Iterator<Item = (usize, usize)> {
    let offsets = (0..size_bytes).step_by(CHUNK_BYTES as usize);
    offsets.map(move |at| (at as usize, chunk_length(size_bytes - at)))
}

/// Whether each byte is `byte`. Compares each with the one before it: one memory comparison, fast
/// in debug builds too.
pub(crate) fn is_filled(bytes: &[u8], byte: u8) -> bool {
    let Some((first, rest)) = bytes.split_first() else { return true };
    *first == byte && *rest == bytes[..rest.len()]
}

/// The one value of all bytes so far, or `None` once two differ.
fn merge(uniform: Option<u8>, chunk: &[u8], first: bool) -> Option<u8> {
    let value = *chunk.first()?;
    (is_filled(chunk, value) && (first || uniform == Some(value))).then_some(value)
}

fn unreachable_memory(what: &str, address: usize, size_bytes: u64) -> Raised {
    let message = format!("host memory: {size_bytes} bytes from {address:#x} cannot be {what}");
    error_of_worker("MemoryFault", message, None)
}
