//! What a driver call does to memory. CUDA Driver API reference, "Memory Management" and "Stream Ordered Memory Allocator".

use allocert_contract::trace::{Call, Function};

/// The kind of memory an address stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Device,
    /// Page-locked memory of the driver.
    Host,
    /// The caller's own memory, page-locked.
    Registered,
}

/// The effect of a call that the driver may or may not have granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Take {
        start: u64,
        size_bytes: u64,
        room: Room,
    },
    Give {
        start: u64,
        room: Room,
    },
    /// Reads or writes device memory; an address of 0 is no address.
    Touch([(u64, u64); 2]),
    Retain {
        device: u64,
        context: u64,
    },
    Release {
        device: u64,
    },
    ResetDevice {
        device: u64,
    },
    EndContext {
        context: u64,
    },
    Nothing,
}

impl Act {
    pub(crate) fn of(call: &Call) -> Self {
        let ([a, b, c, _, e, ..], [out, second, _]) = (call.args, call.out);
        match call.function {
            Function::cuMemAlloc_v2
            | Function::cuMemAllocManaged
            | Function::cuMemAllocAsync
            | Function::cuMemAllocFromPoolAsync => Self::Take { start: out, size_bytes: a, room: Room::Device },
            Function::cuMemAllocPitch_v2 => {
                Self::Take { start: out, size_bytes: second.saturating_mul(b), room: Room::Device }
            }
            Function::cuMemAllocHost_v2 | Function::cuMemHostAlloc => {
                Self::Take { start: out, size_bytes: a, room: Room::Host }
            }
            Function::cuMemHostRegister_v2 => Self::Take { start: a, size_bytes: b, room: Room::Registered },
            Function::cuMemFree_v2 | Function::cuMemFreeAsync => Self::Give { start: a, room: Room::Device },
            Function::cuMemFreeHost => Self::Give { start: a, room: Room::Host },
            Function::cuMemHostUnregister => Self::Give { start: a, room: Room::Registered },
            Function::cuMemcpy
            | Function::cuMemcpyAsync
            | Function::cuMemcpyDtoD_v2
            | Function::cuMemcpyDtoDAsync_v2 => Self::Touch([(a, c), (b, c)]),
            Function::cuMemcpyHtoD_v2 | Function::cuMemcpyHtoDAsync_v2 => Self::Touch([(a, c), (0, 0)]),
            Function::cuMemcpyDtoH_v2 | Function::cuMemcpyDtoHAsync_v2 => Self::Touch([(b, c), (0, 0)]),
            Function::cuMemcpyPeer | Function::cuMemcpyPeerAsync => Self::Touch([(a, e), (c, e)]),
            Function::cuMemsetD8_v2 | Function::cuMemsetD8Async => Self::Touch([(a, c), (0, 0)]),
            Function::cuMemsetD16_v2 | Function::cuMemsetD16Async => Self::Touch([(a, c.saturating_mul(2)), (0, 0)]),
            Function::cuMemsetD32_v2 | Function::cuMemsetD32Async => Self::Touch([(a, c.saturating_mul(4)), (0, 0)]),
            Function::cuIpcGetMemHandle => Self::Touch([(a, 1), (0, 0)]),
            Function::cuDevicePrimaryCtxRetain => Self::Retain { device: a, context: out },
            Function::cuDevicePrimaryCtxRelease | Function::cuDevicePrimaryCtxRelease_v2 => Self::Release { device: a },
            Function::cuDevicePrimaryCtxReset | Function::cuDevicePrimaryCtxReset_v2 => Self::ResetDevice { device: a },
            Function::cuCtxDestroy_v2 => Self::EndContext { context: a },
            _ => Self::Nothing,
        }
    }
}
