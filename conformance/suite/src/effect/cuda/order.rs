//! What a driver call does to the order of work.
//!
//! Every rule is a row of what was measured on an H200: `order/measured.rs` demands a row of each
//! rule, and `tests/suite/measured_order.rs` compares the judge with each row. Where the
//! documentation says less than the GPU does, the rules follow the GPU; where nothing was measured,
//! there is no order.

mod copy_and_fill_waits;
#[cfg(test)]
mod measured;
mod passed_on;

use std::sync::LazyLock;

use allocert_contract::trace::{
    Call,
    cuda::{ATTRIBUTES_WORD, Function},
};

pub(crate) use copy_and_fill_waits::{CopyForm, HostWait, MemoryClass, Work};
pub(crate) use passed_on::PassedOnEffect;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderEffect {
    /// Something queued in a stream.
    Queue {
        stream: u64,
        work: Work,
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
    /// Gives memory back, after all work of the context that owns it. Memory of a pool does not
    /// wait, and neither does the address 0.
    Free {
        start: u64,
    },
    /// A context ends, after all work of all devices.
    EndContext,
    /// Memory becomes such that synchronous copies and fills of it wait, or no longer.
    SetSyncMemops {
        address: u64,
        on: bool,
    },
    Nothing,
}

/// `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`.
const SYNC_MEMOPS: u64 = 6;

impl OrderEffect {
    /// Of a call that succeeded.
    pub(crate) fn of(call: &Call) -> Self {
        let ([a, b, c, ..], [out, ..]) = (call.args, call.out);
        let stream = || stream_of(call);
        let in_legacy = |work: Work| Self::Queue { stream: 0, work };
        let queue = |work: Work| Self::Queue { stream: stream(), work };
        let copy = |form: CopyForm| Work::Copy { form, synchronous: true };
        let copy_async = |form: CopyForm| Work::Copy { form, synchronous: false };
        let Some(function) = call.function.cuda() else { return Self::Nothing };
        match function {
            Function::cuMemAllocAsync | Function::cuMemAllocFromPoolAsync => {
                queue(Work::Allocation)
            }
            Function::cuMemFreeAsync
            | Function::cuMemPrefetchAsync
            | Function::cuMemPrefetchAsync_v2
            | Function::cuStreamAttachMemAsync => queue(Work::Other),
            Function::cuMemsetD8Async
            | Function::cuMemsetD16Async
            | Function::cuMemsetD32Async
            | Function::cuMemsetD2D8Async
            | Function::cuMemsetD2D16Async
            | Function::cuMemsetD2D32Async => queue(Work::Fill { synchronous: false }),
            Function::cuMemsetD8_v2
            | Function::cuMemsetD16_v2
            | Function::cuMemsetD32_v2
            | Function::cuMemsetD2D8_v2
            | Function::cuMemsetD2D16_v2
            | Function::cuMemsetD2D32_v2 => in_legacy(Work::Fill { synchronous: true }),
            Function::cuMemcpy => in_legacy(copy(CopyForm::Unified)),
            Function::cuMemcpyHtoD_v2 => in_legacy(copy(CopyForm::HostToDevice)),
            Function::cuMemcpyDtoH_v2 => in_legacy(copy(CopyForm::DeviceToHost)),
            Function::cuMemcpyDtoD_v2 => in_legacy(copy(CopyForm::DeviceToDevice)),
            Function::cuMemcpyPeer => in_legacy(copy(CopyForm::Peer)),
            Function::cuMemcpy2D_v2
            | Function::cuMemcpy2DUnaligned_v2
            | Function::cuMemcpy3D_v2 => in_legacy(copy(CopyForm::Rows)),
            Function::cuMemcpyAsync => queue(copy_async(CopyForm::Unified)),
            Function::cuMemcpyHtoDAsync_v2 => queue(copy_async(CopyForm::HostToDevice)),
            Function::cuMemcpyDtoHAsync_v2 => queue(copy_async(CopyForm::DeviceToHost)),
            Function::cuMemcpyDtoDAsync_v2 => queue(copy_async(CopyForm::DeviceToDevice)),
            Function::cuMemcpyPeerAsync => queue(copy_async(CopyForm::Peer)),
            Function::cuMemcpy2DAsync_v2 | Function::cuMemcpy3DAsync_v2 => {
                queue(copy_async(CopyForm::Rows))
            }
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
            Function::cuCtxSynchronize
            | Function::cuIpcCloseMemHandle
            | Function::cuModuleUnload => Self::AwaitContext { context: 0 },
            Function::cuCtxSynchronize_v2 => Self::AwaitContext { context: a },
            Function::cuCtxDestroy_v2 => Self::EndContext,
            Function::cuMemFree_v2 | Function::cuMemFreeHost | Function::cuMemHostUnregister => {
                Self::Free { start: a }
            }
            Function::cuPointerSetAttribute if b == SYNC_MEMOPS => {
                Self::SetSyncMemops { address: c, on: a != 0 }
            }
            function if function.is_launch() => queue(Work::Other),
            _ => Self::Nothing,
        }
    }
}

/// The stream that a call is given; 0 for none.
fn stream_of(call: &Call) -> u64 {
    static POSITIONS: LazyLock<Vec<Option<usize>>> = LazyLock::new(|| {
        let position = |function: Function| {
            allocert_contract::trace::Function::Cuda(function)
                .inputs()
                .position(|name| name == "stream")
        };
        Function::all().map(position).collect()
    });
    let function = call.function.cuda().map(|function| usize::from(function.index()));
    let position = function.and_then(|index| POSITIONS.get(index).copied().flatten());
    position.and_then(|position| call.args.get(position).copied()).unwrap_or(0)
}

/// Whether a launch may begin before earlier work of its stream has ended, or records events.
/// Nobody sees that order. CUDA Driver API, `CUlaunchAttributeID`.
pub(crate) fn has_order_of_its_own(function: Function, call: &Call) -> bool {
    const PROGRAMMATIC_STREAM_SERIALIZATION: u64 = 1 << 6;
    const PROGRAMMATIC_EVENT: u64 = 1 << 7;
    const LAUNCH_COMPLETION_EVENT: u64 = 1 << 12;
    const ALL: u64 =
        PROGRAMMATIC_STREAM_SERIALIZATION | PROGRAMMATIC_EVENT | LAUNCH_COMPLETION_EVENT;
    function == Function::cuLaunchKernelEx && call.args[ATTRIBUTES_WORD] & ALL != 0
}

/// Whether a kernel has broken the context with this call's result: nothing of it runs any more.
pub(crate) fn breaks_context(call: &Call) -> bool {
    !call.injected && matches!(call.result, Some(700 | 702 | 714..=719))
}
