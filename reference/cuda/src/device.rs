use cudarc::driver::sys;

use crate::Driver;
use crate::c_char::byte_of;
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

    /// `cuDeviceGetName` of the device with this ordinal, up to 255 bytes.
    pub fn device_get_name(self, ordinal: i32) -> Result<String, DriverError> {
        let device = self.device_get(ordinal)?;
        let mut name = [0_u8; 256];
        let last = i32::try_from(name.len() - 1).unwrap_or(i32::MAX);
        // SAFETY: the buffer is valid for a write of `last` bytes during the call.
        let result = unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), last, device) };
        check("cuDeviceGetName", result)?;
        let text = name.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// `cuDeviceGetUuid` of the device with this ordinal.
    pub fn device_get_uuid(self, ordinal: i32) -> Result<[u8; 16], DriverError> {
        let device = self.device_get(ordinal)?;
        let mut uuid = sys::CUuuid { bytes: [0; 16] };
        // SAFETY: the out pointer is valid for a write of 16 bytes during the call.
        check("cuDeviceGetUuid", unsafe { sys::cuDeviceGetUuid_v2(&raw mut uuid, device) })?;
        Ok(uuid.bytes.map(byte_of))
    }

    pub(crate) fn device_get(self, ordinal: i32) -> Result<sys::CUdevice, DriverError> {
        let mut device = 0;
        // SAFETY: the out pointer is valid for a write during the call.
        check("cuDeviceGet", unsafe { sys::cuDeviceGet(&raw mut device, ordinal) })?;
        Ok(device)
    }
}
