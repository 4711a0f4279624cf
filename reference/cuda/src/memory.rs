use cudarc::driver::sys;

use crate::Driver;
use crate::error::{DriverError, check};

/// Device memory of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    pub free_bytes: u64,
    pub total_bytes: u64,
}

/// Device memory. Addresses are device addresses; errors are whatever the driver answers.
#[expect(clippy::missing_errors_doc, reason = "said once for the block")]
impl Driver {
    /// `cuMemAlloc` in the current context. The driver refuses size 0.
    pub fn mem_alloc(self, size_bytes: u64) -> Result<u64, DriverError> {
        let mut pointer = 0;
        // SAFETY: the out pointer is valid for a write during the call.
        check("cuMemAlloc", unsafe {
            sys::cuMemAlloc_v2(&raw mut pointer, host_size(size_bytes))
        })?;
        Ok(pointer)
    }

    /// `cuMemFree`. Needs no current context. Safe, because safe Rust never reads through a device
    /// address, and the driver refuses what it did not allocate.
    pub fn mem_free(self, pointer: u64) -> Result<(), DriverError> {
        // SAFETY: the driver checks the address; nothing on the host points into device memory.
        check("cuMemFree", unsafe { sys::cuMemFree_v2(pointer) })
    }

    /// `cuMemAllocAsync` on the default stream of the current context. The driver refuses size 0.
    pub fn mem_alloc_async(self, size_bytes: u64) -> Result<u64, DriverError> {
        let mut pointer = 0;
        // SAFETY: the out pointer is valid for a write during the call; null is the default stream.
        check("cuMemAllocAsync", unsafe {
            sys::cuMemAllocAsync(&raw mut pointer, host_size(size_bytes), std::ptr::null_mut())
        })?;
        Ok(pointer)
    }

    /// `cuMemFreeAsync` on the default stream of the current context. Safe as [`Self::mem_free`].
    pub fn mem_free_async(self, pointer: u64) -> Result<(), DriverError> {
        // SAFETY: the driver checks the address; null is the default stream.
        check("cuMemFreeAsync", unsafe { sys::cuMemFreeAsync(pointer, std::ptr::null_mut()) })
    }

    /// `cuMemGetInfo` of the current context.
    pub fn mem_get_info(self) -> Result<MemoryInfo, DriverError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both out pointers are valid for a write during the call.
        check("cuMemGetInfo", unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) })?;
        Ok(MemoryInfo { free_bytes: free as u64, total_bytes: total as u64 })
    }

    /// `cuMemGetAddressRange`: base and size of the driver's allocation around `pointer`.
    pub fn mem_get_address_range(self, pointer: u64) -> Result<(u64, u64), DriverError> {
        let (mut base, mut size) = (0, 0);
        // SAFETY: both out pointers are valid for a write during the call; the driver checks
        // `pointer`.
        let result = unsafe { sys::cuMemGetAddressRange_v2(&raw mut base, &raw mut size, pointer) };
        check("cuMemGetAddressRange", result)?;
        Ok((base, size as u64))
    }

    /// `cuMemsetD8`.
    ///
    /// # Safety
    /// `size_bytes` from `pointer` are device memory, or host memory that nobody else uses: the
    /// driver takes every address in its unified address space.
    pub unsafe fn memset_d8(
        self,
        pointer: u64,
        value: u8,
        size_bytes: u64,
    ) -> Result<(), DriverError> {
        // SAFETY: the caller promises that these bytes are the driver's, or host memory that nobody
        // else uses.
        check("cuMemsetD8", unsafe { sys::cuMemsetD8_v2(pointer, value, host_size(size_bytes)) })
    }

    /// `cuMemcpyHtoD`.
    ///
    /// # Safety
    /// As [`Driver::memset_d8`] for `source.len()` bytes from `pointer`.
    pub unsafe fn memcpy_htod(self, pointer: u64, source: &[u8]) -> Result<(), DriverError> {
        // SAFETY: the slice is readable for the whole, synchronous call; `pointer` is the caller's
        // promise.
        let result = unsafe { sys::cuMemcpyHtoD_v2(pointer, source.as_ptr().cast(), source.len()) };
        check("cuMemcpyHtoD", result)
    }

    /// `cuMemcpyDtoH`.
    ///
    /// # Safety
    /// `target.len()` bytes from `pointer` are device memory, or initialised host memory that
    /// nobody writes meanwhile.
    pub unsafe fn memcpy_dtoh(self, target: &mut [u8], pointer: u64) -> Result<(), DriverError> {
        // SAFETY: the slice is writable for the whole, synchronous call; `pointer` is the caller's
        // promise.
        let result =
            unsafe { sys::cuMemcpyDtoH_v2(target.as_mut_ptr().cast(), pointer, target.len()) };
        check("cuMemcpyDtoH", result)
    }
}

/// A size as the driver takes it. What does not fit is more than any machine has, so the largest
/// value earns the out-of-memory answer that it deserves.
pub(crate) fn host_size(size_bytes: u64) -> usize {
    usize::try_from(size_bytes).unwrap_or(usize::MAX)
}
