//! What the fault sweep must know of a driver function.

use allocert_contract::trace::{Call, cuda::Function};

/// Whether the driver's documentation lets the function answer `CUDA_ERROR_OUT_OF_MEMORY` (each
/// function's "Returns").
pub(crate) fn may_run_out_of_memory(function: Function) -> bool {
    matches!(
        function,
        Function::cuMemAlloc_v2
            | Function::cuMemAllocPitch_v2
            | Function::cuMemAllocManaged
            | Function::cuMemAllocAsync
            | Function::cuMemAllocFromPoolAsync
            | Function::cuMemAllocHost_v2
            | Function::cuMemHostAlloc
            | Function::cuMemHostRegister_v2
            | Function::cuMemPoolCreate
            | Function::cuIpcGetMemHandle
            | Function::cuIpcOpenMemHandle_v2
            | Function::cuDevicePrimaryCtxRetain
            | Function::cuCtxCreate_v2
            | Function::cuCtxCreate_v4
            | Function::cuStreamCreate
            | Function::cuStreamCreateWithPriority
            | Function::cuEventCreate
    )
}

/// Whether a binding calls the function before or beside its work, to look something up.
pub(crate) fn is_lookup(function: Function) -> bool {
    matches!(
        function,
        Function::cuGetProcAddress
            | Function::cuGetProcAddress_v2
            | Function::cuGetErrorName
            | Function::cuGetErrorString
            | Function::cuDriverGetVersion
    )
}

/// Whether a call undoes what the subject did to contexts: `before` was current when the step
/// began.
pub(crate) fn restores_context(function: Function, call: &Call, before: u64) -> bool {
    match function {
        Function::cuCtxPopCurrent_v2
        | Function::cuCtxDestroy_v2
        | Function::cuDevicePrimaryCtxRelease
        | Function::cuDevicePrimaryCtxRelease_v2 => true,
        Function::cuCtxSetCurrent => call.args[0] == before,
        _ => false,
    }
}
