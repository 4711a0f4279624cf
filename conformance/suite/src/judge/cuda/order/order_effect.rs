//! What a driver call does to the order of things. CUDA Driver API: "API synchronization behavior",
//! "Stream Management", "Event Management".

use allocert_contract::trace::{Call, Function, Launch};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderEffect {
    /// Something queued in a stream, and when the host goes on only after it.
    Queue {
        stream: u64,
        host: Host,
    },
    /// A function of the host queued in a stream. It may tell any thread that the stream got there.
    Callback {
        stream: u64,
    },
    CreateStream {
        handle: u64,
        flags: u64,
    },
    DestroyStream {
        handle: u64,
    },
    CreateEvent {
        event: u64,
    },
    DestroyEvent {
        event: u64,
    },
    Record {
        event: u64,
        stream: u64,
    },
    Wait {
        stream: u64,
        event: u64,
    },
    AwaitStream {
        stream: u64,
    },
    AwaitEvents([u64; 2]),
    /// 0: the current context.
    AwaitContext {
        context: u64,
    },
    /// Gives memory back, after all work of the device.
    AwaitDevice,
    /// `cuMemcpyPeer` is serialized with all work of three contexts.
    Peer {
        contexts: [u64; 2],
    },
    CreateContext {
        context: u64,
        device: u64,
    },
    Nothing,
}

/// When the host waits for what it queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    GoesOn,
    /// A synchronous copy, except from device memory to device memory.
    WaitsForCopy,
    /// An asynchronous copy waits where pageable memory is written, and between two places of the
    /// host.
    WaitsForPageable,
    /// A synchronous memset waits where the host can see the memory.
    WaitsForVisible,
}

impl OrderEffect {
    /// Of a call that succeeded.
    pub(crate) fn of(call: &Call) -> Self {
        let ([a, b, c, d, ..], [out, ..]) = (call.args, call.out);
        let queue = |stream: u64, host: Host| Self::Queue { stream, host };
        let named = call.arg("stream").unwrap_or(0);
        match call.function {
            function if Launch::is(function) => queue(named, Host::GoesOn),
            Function::cuMemAllocAsync
            | Function::cuMemAllocFromPoolAsync
            | Function::cuMemFreeAsync
            | Function::cuMemPrefetchAsync
            | Function::cuMemPrefetchAsync_v2
            | Function::cuStreamAttachMemAsync
            | Function::cuMemcpyPeerAsync
            | Function::cuMemsetD8Async
            | Function::cuMemsetD16Async
            | Function::cuMemsetD32Async => queue(named, Host::GoesOn),
            Function::cuMemcpyAsync
            | Function::cuMemcpyHtoDAsync_v2
            | Function::cuMemcpyDtoHAsync_v2
            | Function::cuMemcpyDtoDAsync_v2
            | Function::cuMemcpy2DAsync_v2 => queue(named, Host::WaitsForPageable),
            Function::cuMemcpy
            | Function::cuMemcpyHtoD_v2
            | Function::cuMemcpyDtoH_v2
            | Function::cuMemcpyDtoD_v2
            | Function::cuMemcpy2D_v2
            | Function::cuMemcpy2DUnaligned_v2 => queue(0, Host::WaitsForCopy),
            Function::cuMemsetD8_v2 | Function::cuMemsetD16_v2 | Function::cuMemsetD32_v2 => {
                queue(0, Host::WaitsForVisible)
            }
            Function::cuMemcpyPeer => Self::Peer { contexts: [b, d] },
            Function::cuLaunchHostFunc | Function::cuStreamAddCallback => {
                Self::Callback { stream: a }
            }
            Function::cuStreamCreate | Function::cuStreamCreateWithPriority => {
                Self::CreateStream { handle: out, flags: a }
            }
            Function::cuStreamDestroy_v2 => Self::DestroyStream { handle: a },
            Function::cuStreamSynchronize | Function::cuStreamQuery => {
                Self::AwaitStream { stream: a }
            }
            Function::cuStreamWaitEvent => Self::Wait { stream: a, event: b },
            Function::cuEventCreate => Self::CreateEvent { event: out },
            Function::cuEventDestroy_v2 => Self::DestroyEvent { event: a },
            Function::cuEventRecord | Function::cuEventRecordWithFlags => {
                Self::Record { event: a, stream: b }
            }
            Function::cuEventSynchronize | Function::cuEventQuery => Self::AwaitEvents([a, a]),
            Function::cuEventElapsedTime | Function::cuEventElapsedTime_v2 => {
                Self::AwaitEvents([a, b])
            }
            Function::cuCtxSynchronize => Self::AwaitContext { context: 0 },
            Function::cuCtxSynchronize_v2 | Function::cuCtxDestroy_v2 => {
                Self::AwaitContext { context: a }
            }
            Function::cuMemFree_v2 | Function::cuMemFreeHost | Function::cuMemHostUnregister => {
                Self::AwaitDevice
            }
            Function::cuDevicePrimaryCtxRetain => Self::CreateContext { context: out, device: a },
            Function::cuCtxCreate_v2 => Self::CreateContext { context: out, device: b },
            Function::cuCtxCreate_v4 => Self::CreateContext { context: out, device: c },
            _ => Self::Nothing,
        }
    }
}
