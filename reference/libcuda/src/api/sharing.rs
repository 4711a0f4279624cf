//! Memory shared between processes.

use allocert_contract::DevicePtr;
use allocert_driver::{CudaError, Result};

use crate::c_api::{Call, IpcHandle, Out};

pub(crate) fn cuIpcGetMemHandle(call: &mut Call, handle: Out<IpcHandle>, dptr: u64) -> Result {
    let handle = handle.required()?;
    // Asked even before cuInit.
    if dptr == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    handle.put(IpcHandle(call.driver.ipc_export(&call.caller, DevicePtr(dptr))?));
    Ok(())
}

pub(crate) fn cuIpcOpenMemHandle(
    call: &mut Call,
    dptr: Out<u64>,
    handle: IpcHandle,
    flags: u32,
) -> Result {
    let dptr = dptr.required()?;
    // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, asked even before cuInit.
    if flags != 1 {
        return Err(CudaError::INVALID_VALUE);
    }
    dptr.put(call.driver.ipc_open(&call.caller, &handle.0, flags)?.0);
    Ok(())
}

pub(crate) fn cuIpcOpenMemHandle_v2(
    call: &mut Call,
    dptr: Out<u64>,
    handle: IpcHandle,
    flags: u32,
) -> Result {
    cuIpcOpenMemHandle(call, dptr, handle, flags)
}

pub(crate) fn cuIpcCloseMemHandle(call: &mut Call, dptr: u64) -> Result {
    call.driver.ipc_close(&call.caller, DevicePtr(dptr))
}
