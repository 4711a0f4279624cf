//! Reads memory of the program at addresses that may be invalid, such as those in an image or a
//! launch. The system copies it and reports an invalid address, where a plain read would end the
//! process.

use std::{io, ptr};

/// More parts than this take more than one call (`IOV_MAX`).
const MAX_PARTS: usize = 1024;

/// Fills `into` from `address` on. `false` if not all of it can be read.
pub(crate) fn read(address: u64, into: &mut [u8]) -> bool {
    into.is_empty() || copy(&[(address, into.len())], into)
}

/// The bytes of several ranges, each an address and a length, one behind the other. `None` if one
/// of them cannot be read.
pub(crate) fn gather(ranges: &[(u64, usize)]) -> Option<Vec<u8>> {
    let mut bytes = vec![0; ranges.iter().map(|(_, length)| length).sum()];
    let mut rest = &mut bytes[..];
    for some in ranges.chunks(MAX_PARTS) {
        let (into, behind) = rest.split_at_mut(some.iter().map(|(_, length)| length).sum());
        if !into.is_empty() && !copy(some, into) {
            return None;
        }
        rest = behind;
    }
    Some(bytes)
}

/// `into` is as long as the ranges together, which are at most `MAX_PARTS`.
fn copy(ranges: &[(u64, usize)], into: &mut [u8]) -> bool {
    let part = |(address, length): &(u64, usize)| libc::iovec {
        iov_base: ptr::with_exposed_provenance_mut(*address as usize),
        iov_len: *length,
    };
    let remote: Vec<_> = ranges.iter().map(part).collect();
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: getpid has no preconditions.
    let process = unsafe { libc::getpid() };
    // SAFETY: the kernel writes to `into` alone, and checks the addresses that it reads from.
    let copied = unsafe {
        libc::process_vm_readv(
            process,
            &local,
            1,
            remote.as_ptr(),
            remote.len() as libc::c_ulong,
            0,
        )
    };
    match usize::try_from(copied) {
        Ok(copied) => copied == into.len(),
        Err(_) if io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT) => false,
        Err(_) => read_unchecked(ranges, into),
    }
}

/// Reads without the system's help, where a sandbox forbids the system call. An invalid address
/// then ends the process, as it does with any driver.
#[cold]
fn read_unchecked(ranges: &[(u64, usize)], into: &mut [u8]) -> bool {
    let mut rest = into;
    for (address, length) in ranges {
        let (part, behind) = rest.split_at_mut(*length);
        let from = ptr::with_exposed_provenance::<u8>(*address as usize);
        if from.is_null() && *length > 0 {
            return false;
        }
        // SAFETY: the program gave the address to a function that reads so much from it.
        unsafe { ptr::copy(from, part.as_mut_ptr(), *length) };
        rest = behind;
    }
    true
}
