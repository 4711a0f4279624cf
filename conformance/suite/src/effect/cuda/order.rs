//! What a driver call does to the order of work. "API synchronization behavior", "Stream
//! Management" and "Event Management".

use allocert_contract::trace::{Call, cuda::Function};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderEffect {
    /// Something queued in a stream, and when the host goes on only after it.
    Queue {
        stream: u64,
        wait: HostWait,
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
    Nothing,
}

/// When the host waits for what it queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostWait {
    Never,
    /// A synchronous copy, except from device memory to device memory.
    UnlessOnDevice,
    /// An asynchronous copy waits where pageable memory is written, and between two places of the
    /// host.
    IfPageable,
    /// A synchronous memset waits where the host can see the memory.
    IfHostVisible,
}

impl OrderEffect {
    /// Of a call that succeeded.
    pub(crate) fn of(call: &Call) -> Self {
        let ([a, b, _, d, ..], [out, ..]) = (call.args, call.out);
        let queue = |stream: u64, wait: HostWait| Self::Queue { stream, wait };
        let stream = || call.arg("stream").unwrap_or(0);
        let Some(function) = call.function.cuda() else { return Self::Nothing };
        match function {
            Function::cuMemAllocAsync
            | Function::cuMemAllocFromPoolAsync
            | Function::cuMemFreeAsync
            | Function::cuMemPrefetchAsync
            | Function::cuMemPrefetchAsync_v2
            | Function::cuStreamAttachMemAsync
            | Function::cuMemcpyPeerAsync
            | Function::cuMemsetD8Async
            | Function::cuMemsetD16Async
            | Function::cuMemsetD32Async
            | Function::cuMemsetD2D8Async
            | Function::cuMemsetD2D16Async
            | Function::cuMemsetD2D32Async => queue(stream(), HostWait::Never),
            Function::cuMemcpyAsync
            | Function::cuMemcpyHtoDAsync_v2
            | Function::cuMemcpyDtoHAsync_v2
            | Function::cuMemcpyDtoDAsync_v2
            | Function::cuMemcpy2DAsync_v2
            | Function::cuMemcpy3DAsync_v2 => queue(stream(), HostWait::IfPageable),
            Function::cuMemcpy
            | Function::cuMemcpyHtoD_v2
            | Function::cuMemcpyDtoH_v2
            | Function::cuMemcpyDtoD_v2
            | Function::cuMemcpy2D_v2
            | Function::cuMemcpy2DUnaligned_v2
            | Function::cuMemcpy3D_v2 => queue(0, HostWait::UnlessOnDevice),
            Function::cuMemsetD8_v2
            | Function::cuMemsetD16_v2
            | Function::cuMemsetD32_v2
            | Function::cuMemsetD2D8_v2
            | Function::cuMemsetD2D16_v2
            | Function::cuMemsetD2D32_v2 => queue(0, HostWait::IfHostVisible),
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
            function if function.is_launch() => queue(stream(), HostWait::Never),
            _ => Self::Nothing,
        }
    }
}

/// What a call that was passed on by its name alone may do to the order of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassedOnEffect {
    BeginsCapture,
    EndsCapture,
    /// It waits for nothing.
    Nothing,
    /// Nobody knows: it may wait for all work that was queued before.
    Unknown,
}

impl PassedOnEffect {
    pub(crate) fn of(function: Function) -> Self {
        let name = function.name();
        if name.starts_with("cuStreamBeginCapture") || name.starts_with("cuStreamBeginRecapture") {
            Self::BeginsCapture
        } else if name.starts_with("cuStreamEndCapture") {
            Self::EndsCapture
        } else if function == Function::cuGetExportTable {
            Self::Nothing
        } else {
            Self::Unknown
        }
    }
}

/// Whether a kernel has broken the context with this call's result: nothing of it runs any more.
pub(crate) fn breaks_context(call: &Call) -> bool {
    !call.injected && matches!(call.result, Some(700 | 702 | 714..=719))
}
