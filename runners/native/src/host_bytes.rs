//! Bytes of the process, written and read in chunks at addresses that may be wrong.

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::checked_memory;
use crate::step_result::{error_of_worker, facts};

/// How much is copied at a time.
const CHUNK_BYTES: u64 = 64 * 1024;

/// The memory of the process that has pages, in bytes; 0 where the system does not tell.
pub(crate) fn resident() -> u64 {
    let pages = rustix::param::page_size() as u64;
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|count| count.parse().ok()).unwrap_or(0_u64) * pages
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
