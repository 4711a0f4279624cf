//! Bytes of device memory, written and read through the driver in the current context.

use allocert_cuda::{Driver, DriverError};

use crate::host_bytes::{chunk_length, chunks, is_filled};

/// Fills device memory and waits for it: a fill is asynchronous, and a peer is ordered after
/// nothing here.
pub(crate) fn fill_device(
    driver: Driver,
    pointer: u64,
    byte: u8,
    size_bytes: u64,
) -> Result<(), DriverError> {
    // SAFETY: an address that the subject gave out as device memory; the driver refuses one that is
    // not memory of this process, and a subject that lies damages its own process.
    unsafe { driver.memset_d8(pointer, byte, size_bytes) }?;
    // SAFETY: one byte from the same address into a buffer of one byte; the copy waits for what the
    // default stream did before.
    if size_bytes > 0 { unsafe { driver.memcpy_dtoh(&mut [0], pointer) } } else { Ok(()) }
}

/// Whether each of these bytes of device memory is `byte`.
pub(crate) fn is_filled_device(
    driver: Driver,
    pointer: u64,
    byte: u8,
    size_bytes: u64,
) -> Result<bool, DriverError> {
    let mut chunk = vec![0; chunk_length(size_bytes)];
    for (at, length) in chunks(size_bytes) {
        let target = &mut chunk[..length];
        // SAFETY: as in fill_device.
        unsafe { driver.memcpy_dtoh(target, pointer.wrapping_add(at as u64)) }?;
        if !is_filled(target, byte) {
            return Ok(false);
        }
    }
    Ok(true)
}
