use cudarc::driver::sys;

use crate::Driver;
use crate::error::{DriverError, check};

/// Devices. Errors are whatever the driver answers.
#[expect(clippy::missing_errors_doc, reason = "said once for the block")]
impl Driver {
    /// `cuDeviceGetCount`.
    pub fn device_get_count(self) -> Result<i32, DriverError> {
        let mut count = 0;
        // SAFETY: the out pointer is valid for a write during the call.
        check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
        Ok(count)
    }

    /// `cuDeviceGetUuid` of the device with this ordinal.
    pub fn device_get_uuid(self, ordinal: i32) -> Result<[u8; 16], DriverError> {
        let device = self.device_get(ordinal)?;
        let mut uuid = sys::CUuuid { bytes: [0; 16] };
        // SAFETY: the out pointer is valid for a write of 16 bytes during the call.
        check("cuDeviceGetUuid", unsafe { sys::cuDeviceGetUuid_v2(&raw mut uuid, device) })?;
        Ok(uuid.bytes.map(i8::cast_unsigned))
    }

    pub(crate) fn device_get(self, ordinal: i32) -> Result<sys::CUdevice, DriverError> {
        let mut device = 0;
        // SAFETY: the out pointer is valid for a write during the call.
        check("cuDeviceGet", unsafe { sys::cuDeviceGet(&raw mut device, ordinal) })?;
        Ok(device)
    }
}
