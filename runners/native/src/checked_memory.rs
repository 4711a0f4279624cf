//! Memory at addresses that may be wrong. The kernel reads and writes it, and refuses an address at
//! which a load or store of our own would end the process.

use std::io;

use libc::{c_void, iovec};

/// The longest text that is taken from a subject.
const TEXT_LIMIT: usize = 1024;
const PAGE: usize = 4096;

/// Fills `target` from `address`; the number of bytes that could be read.
pub(crate) fn read(address: usize, target: &mut [u8]) -> usize {
    let local = iovec { iov_base: target.as_mut_ptr().cast(), iov_len: target.len() };
    let remote = iovec { iov_base: address as *mut c_void, iov_len: target.len() };
    // SAFETY: `local` is writable for its length; the kernel checks `remote` and answers EFAULT.
    let count =
        unsafe { libc::process_vm_readv(own_pid(), &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(count).unwrap_or(0)
}

/// Copies `source` to `address`; the number of bytes that could be written.
pub(crate) fn write(address: usize, source: &[u8]) -> usize {
    let local = iovec { iov_base: source.as_ptr().cast_mut().cast(), iov_len: source.len() };
    let remote = iovec { iov_base: address as *mut c_void, iov_len: source.len() };
    // SAFETY: `local` is only read; the kernel checks `remote`. That the bytes are the subject's
    // own is the subject's claim: one that lies damages a process that is its own.
    let count =
        unsafe { libc::process_vm_writev(own_pid(), &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(count).unwrap_or(0)
}

fn own_pid() -> libc::pid_t {
    std::process::id().cast_signed()
}

/// Whether the kernel lets a process copy its own memory this way.
pub(crate) fn available() -> io::Result<()> {
    let (probe, mut copy) = ([7u8], [0u8]);
    match read(probe.as_ptr().addr(), &mut copy) {
        1 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The text at `address` up to its NUL, at most 1 KiB; bytes that are not UTF-8 become U+FFFD.
/// `None` for NULL and for memory that cannot be read.
pub(crate) fn text(address: usize) -> Option<String> {
    bytes(address).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// As [`text`], and `None` for what is not UTF-8.
pub(crate) fn utf8(address: usize) -> Option<String> {
    let bytes = bytes(address)?;
    is_utf8(&bytes).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether these bytes are UTF-8, as far as they are known: a long text may be cut inside a
/// character.
pub(crate) fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes)
        .err()
        .is_none_or(|error| bytes.len() == TEXT_LIMIT && error.error_len().is_none())
}

/// The bytes at `address` up to a NUL, at most 1 KiB. `None` for NULL and for memory that cannot be
/// read.
pub(crate) fn bytes(address: usize) -> Option<Vec<u8>> {
    if address == 0 {
        return None;
    }
    let mut bytes = [0; TEXT_LIMIT];
    // Page by page: a short text may lie just before memory that is not there.
    let first = TEXT_LIMIT.min(PAGE - address % PAGE);
    let mut count = read(address, &mut bytes[..first]);
    if count == first && !bytes[..first].contains(&0) {
        count += read(address.checked_add(first)?, &mut bytes[first..]);
    }
    let known = &bytes[..count];
    let end = known.iter().position(|byte| *byte == 0).unwrap_or(count);
    (count > 0).then(|| known[..end].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_not_mapped_is_refused_not_touched() {
        assert_eq!(read(16, &mut [0; 4]), 0);
        assert_eq!(write(16, &[1; 4]), 0);
        assert_eq!(text(16), None);
        assert_eq!(text(0), None);
    }

    #[test]
    fn text_is_bounded_and_made_valid() {
        assert_eq!(text(c"fine".as_ptr().addr()).as_deref(), Some("fine"));
        assert_eq!(text(c"bad \xff".as_ptr().addr()).as_deref(), Some("bad \u{fffd}"));
        assert_eq!(utf8(c"bad \xff".as_ptr().addr()), None);
        assert!(
            is_utf8(&format!("x{}", "é".repeat(600)).as_bytes()[..TEXT_LIMIT]) && !is_utf8(b"\xc3")
        );
        let endless = vec![b'x'; 2 * TEXT_LIMIT];
        assert_eq!(text(endless.as_ptr().addr()).map(|text| text.len()), Some(TEXT_LIMIT));
    }
}
