use cudarc::driver::sys;

use crate::Driver;
use crate::c_char::{byte_of, c_char_of};
use crate::error::{DriverError, check};

/// Size of a `CUipcMemHandle`.
pub const IPC_HANDLE_BYTES: usize = 64;

/// Sharing device memory between processes. Errors are whatever the driver answers.
#[expect(clippy::missing_errors_doc, reason = "said once for the block")]
impl Driver {
    /// `cuIpcGetMemHandle` for the driver's allocation at `pointer`.
    pub fn ipc_get_mem_handle(self, pointer: u64) -> Result<[u8; IPC_HANDLE_BYTES], DriverError> {
        let mut handle = sys::CUipcMemHandle { reserved: [0; IPC_HANDLE_BYTES] };
        // SAFETY: the out pointer is valid for a write of 64 bytes during the call.
        check("cuIpcGetMemHandle", unsafe { sys::cuIpcGetMemHandle(&raw mut handle, pointer) })?;
        Ok(handle.reserved.map(byte_of))
    }

    /// `cuIpcOpenMemHandle` in the current context; yields the base of the other process's
    /// allocation.
    pub fn ipc_open_mem_handle(self, handle: [u8; IPC_HANDLE_BYTES]) -> Result<u64, DriverError> {
        let handle = sys::CUipcMemHandle { reserved: handle.map(c_char_of) };
        let flags = sys::CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let mut pointer = 0;
        // SAFETY: the out pointer is valid for a write during the call; the driver checks the
        // handle.
        let result = unsafe { sys::cuIpcOpenMemHandle_v2(&raw mut pointer, handle, flags) };
        check("cuIpcOpenMemHandle", result)?;
        Ok(pointer)
    }

    /// `cuIpcCloseMemHandle` of an address from [`Driver::ipc_open_mem_handle`].
    pub fn ipc_close_mem_handle(self, pointer: u64) -> Result<(), DriverError> {
        // SAFETY: the driver checks the address; nothing on the host points into device memory.
        check("cuIpcCloseMemHandle", unsafe { sys::cuIpcCloseMemHandle(pointer) })
    }
}
