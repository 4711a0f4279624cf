//! The caller's strings and structs.

use std::{ffi::CStr, ptr};

use allocert_driver::{CudaError, Result};

/// A NUL-terminated string of the caller.
///
/// # Safety
/// `address` is 0 or the address of a NUL-terminated string that outlives this call.
pub(super) unsafe fn text(address: u64) -> Result<String> {
    if address == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: not null, so the caller promises a NUL-terminated string; it is copied before this
    // call ends.
    let text = unsafe { CStr::from_ptr(ptr::with_exposed_provenance(address as usize)) };
    text.to_str().map(str::to_owned).map_err(|_| CudaError::INVALID_VALUE)
}

/// A plain struct of the caller.
///
/// # Safety
/// `address` is 0 or the address of a readable `T`, for which any bytes are a value.
pub(super) unsafe fn read<T>(address: u64) -> Result<T> {
    let pointer = ptr::with_exposed_provenance::<T>(address as usize);
    if pointer.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: not null, so the caller promises a readable `T` of any bytes; no alignment is asked
    // for.
    Ok(unsafe { pointer.read_unaligned() })
}

/// Writes a plain value into the caller's memory.
///
/// # Safety
/// `address` is 0 or the address of a writable `T`.
pub(super) unsafe fn write<T>(address: u64, value: T) -> Result {
    let pointer = ptr::with_exposed_provenance_mut::<T>(address as usize);
    if pointer.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: not null, so the caller promises room for a `T`; no alignment is asked for.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// Writes a NUL-terminated string into a buffer of `capacity` bytes, cut to fit.
///
/// # Safety
/// `address` is 0 or the address of so many writable bytes.
pub(super) unsafe fn write_text(address: u64, capacity: i32, text: &str) -> Result {
    if capacity == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    // As measured, a negative capacity counts as a large one.
    let capacity = capacity as u32 as usize;
    for (index, byte) in text.bytes().take(capacity - 1).chain([0]).enumerate() {
        // SAFETY: at most `capacity` bytes, which the caller promises.
        unsafe { write(address.wrapping_add(if address == 0 { 0 } else { index as u64 }), byte)? };
    }
    Ok(())
}
