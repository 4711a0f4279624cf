use std::ffi::c_void;
use std::ptr;

use cudarc::driver::sys;

use crate::Driver;
use crate::error::{DriverError, check};
use crate::memory::host_size;

/// Flags of `cuMemHostAlloc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostAllocFlags {
    pub mapped: bool,
    pub portable: bool,
    pub write_combined: bool,
}

impl HostAllocFlags {
    fn bits(self) -> u32 {
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        bit(self.portable, sys::CU_MEMHOSTALLOC_PORTABLE)
            | bit(self.mapped, sys::CU_MEMHOSTALLOC_DEVICEMAP)
            | bit(self.write_combined, sys::CU_MEMHOSTALLOC_WRITECOMBINED)
    }

    fn of_bits(bits: u32) -> Self {
        let has = |bit: u32| bits & bit != 0;
        Self {
            mapped: has(sys::CU_MEMHOSTALLOC_DEVICEMAP),
            portable: has(sys::CU_MEMHOSTALLOC_PORTABLE),
            write_combined: has(sys::CU_MEMHOSTALLOC_WRITECOMBINED),
        }
    }
}

/// Page-locked host memory. Addresses are host addresses; errors are whatever the driver answers.
#[expect(clippy::missing_errors_doc, reason = "said once for the block")]
impl Driver {
    /// `cuMemHostAlloc` in the current context.
    pub fn mem_host_alloc(
        self,
        size_bytes: u64,
        flags: HostAllocFlags,
    ) -> Result<usize, DriverError> {
        let mut pointer = ptr::null_mut();
        // SAFETY: the out pointer is valid for a write during the call.
        let result =
            unsafe { sys::cuMemHostAlloc(&raw mut pointer, host_size(size_bytes), flags.bits()) };
        check("cuMemHostAlloc", result)?;
        Ok(pointer.expose_provenance())
    }

    /// `cuMemFreeHost`. Needs no current context. Safe, because this crate hands out addresses and
    /// no references: whoever turns an address into one vouches that it is not freed meanwhile.
    pub fn mem_free_host(self, pointer: usize) -> Result<(), DriverError> {
        // SAFETY: the driver refuses an address that it did not allocate; users of the bytes have
        // made the promise above.
        check("cuMemFreeHost", unsafe { sys::cuMemFreeHost(host_pointer(pointer)) })
    }

    /// `cuMemHostRegister` of memory that somebody else owns, in the current context. The driver
    /// refuses addresses that are not mapped; it neither reads nor writes the bytes.
    pub fn mem_host_register(
        self,
        pointer: usize,
        size_bytes: u64,
        mapped: bool,
    ) -> Result<(), DriverError> {
        let flags = if mapped { sys::CU_MEMHOSTREGISTER_DEVICEMAP } else { 0 };
        // SAFETY: pinning changes no byte, and the driver checks the range.
        let result = unsafe {
            sys::cuMemHostRegister_v2(host_pointer(pointer), host_size(size_bytes), flags)
        };
        check("cuMemHostRegister", result)
    }

    /// `cuMemHostUnregister`.
    pub fn mem_host_unregister(self, pointer: usize) -> Result<(), DriverError> {
        // SAFETY: unpinning changes no byte, and the driver refuses what is not registered.
        check("cuMemHostUnregister", unsafe { sys::cuMemHostUnregister(host_pointer(pointer)) })
    }

    /// `cuMemHostGetDevicePointer`: the device address of mapped host memory.
    pub fn mem_host_get_device_pointer(self, pointer: usize) -> Result<u64, DriverError> {
        let mut device = 0;
        // SAFETY: the out pointer is valid for a write during the call; the driver checks
        // `pointer`.
        let result =
            unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut device, host_pointer(pointer), 0) };
        check("cuMemHostGetDevicePointer", result)?;
        Ok(device)
    }

    /// `cuMemHostGetFlags`: the flags of memory that the driver allocated or registered.
    pub fn mem_host_get_flags(self, pointer: usize) -> Result<HostAllocFlags, DriverError> {
        let mut bits = 0;
        // SAFETY: the out pointer is valid for a write during the call; the driver checks
        // `pointer`.
        check("cuMemHostGetFlags", unsafe {
            sys::cuMemHostGetFlags(&raw mut bits, host_pointer(pointer))
        })?;
        Ok(HostAllocFlags::of_bits(bits))
    }
}

fn host_pointer(pointer: usize) -> *mut c_void {
    ptr::with_exposed_provenance_mut(pointer)
}
