//! Reserves the address range that device pointers lie in. It is reserved without access, so that
//! the host faults on them as it does on a machine with a GPU.

use std::ptr;

use allocert_driver::{AddressWindow, Settings};

/// Where the window lies if nothing is in the way: the same addresses in every run.
const PREFERRED: usize = 0x7d00_0000_0000;
const ALIGNMENT: u64 = 2 << 20;

/// Reserves addresses for all devices; `None` if the process's address space is too small (`ulimit
/// -v`).
pub(crate) fn reserve(settings: &Settings) -> Option<AddressWindow> {
    let bytes_per_device = AddressWindow::bytes_for(settings.memory_bytes);
    let bytes =
        usize::try_from(bytes_per_device * u64::from(settings.devices.max(1)) + ALIGNMENT).ok()?;
    let address = map(PREFERRED, bytes, libc::MAP_FIXED_NOREPLACE).or_else(|| map(0, bytes, 0))?;
    Some(AddressWindow { base: address.next_multiple_of(ALIGNMENT), bytes_per_device })
}

fn map(address: usize, bytes: usize, flags: i32) -> Option<u64> {
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping without access; MAP_FIXED_NOREPLACE leaves existing mappings alone.
    let mapped = unsafe {
        libc::mmap(ptr::without_provenance_mut(address), bytes, libc::PROT_NONE, flags, -1, 0)
    };
    (mapped != libc::MAP_FAILED).then_some(mapped as u64)
}
