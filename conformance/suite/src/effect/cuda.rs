//! What a driver call does to memory. CUDA Driver API reference, "Memory Management" and "Stream
//! Ordered Memory Allocator".

use allocert_contract::trace::{Call, Function};

/// The kind of memory an address stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemorySource {
    Device,
    /// Page-locked memory of the driver.
    Host,
    /// The caller's own memory, page-locked.
    Registered,
}

/// The effect of a call that the driver may or may not have granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Take {
        start: u64,
        size_bytes: u64,
        source: MemorySource,
    },
    Give {
        start: u64,
        source: MemorySource,
    },
    /// Writes and reads memory.
    Touch {
        write: Span,
        read: Span,
    },
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

/// What a call reads or writes; an address of 0 is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) size_bytes: u64,
    /// Whether it may be memory that the driver did not give, by the type of the parameter.
    pub(crate) of: Of,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Device,
    Host,
    Either,
}

const NOTHING: Span = Span::device(0, 0);

impl Span {
    const fn device(start: u64, size_bytes: u64) -> Self {
        Self { start, size_bytes, of: Of::Device }
    }

    const fn host(start: u64, size_bytes: u64) -> Self {
        Self { start, size_bytes, of: Of::Host }
    }

    const fn either(start: u64, size_bytes: u64) -> Self {
        Self { start, size_bytes, of: Of::Either }
    }
}

impl Effect {
    pub(crate) fn of(call: &Call) -> Self {
        let ([a, b, c, _, e, ..], [out, second, _]) = (call.args, call.out);
        match call.function {
            Function::cuMemAlloc_v2
            | Function::cuMemAllocManaged
            | Function::cuMemAllocAsync
            | Function::cuMemAllocFromPoolAsync => {
                Self::Take { start: out, size_bytes: a, source: MemorySource::Device }
            }
            Function::cuMemAllocPitch_v2 => Self::Take {
                start: out,
                size_bytes: second.saturating_mul(b),
                source: MemorySource::Device,
            },
            Function::cuMemAllocHost_v2 | Function::cuMemHostAlloc => {
                Self::Take { start: out, size_bytes: a, source: MemorySource::Host }
            }
            Function::cuMemHostRegister_v2 => {
                Self::Take { start: a, size_bytes: b, source: MemorySource::Registered }
            }
            Function::cuMemFree_v2 | Function::cuMemFreeAsync => {
                Self::Give { start: a, source: MemorySource::Device }
            }
            Function::cuMemFreeHost => Self::Give { start: a, source: MemorySource::Host },
            Function::cuMemHostUnregister => {
                Self::Give { start: a, source: MemorySource::Registered }
            }
            Function::cuMemcpy | Function::cuMemcpyAsync => {
                Self::Touch { write: Span::either(a, c), read: Span::either(b, c) }
            }
            Function::cuMemcpyDtoD_v2 | Function::cuMemcpyDtoDAsync_v2 => {
                Self::Touch { write: Span::device(a, c), read: Span::device(b, c) }
            }
            Function::cuMemcpyHtoD_v2 | Function::cuMemcpyHtoDAsync_v2 => {
                Self::Touch { write: Span::device(a, c), read: Span::host(b, c) }
            }
            Function::cuMemcpyDtoH_v2 | Function::cuMemcpyDtoHAsync_v2 => {
                Self::Touch { write: Span::host(a, c), read: Span::device(b, c) }
            }
            Function::cuMemcpyPeer | Function::cuMemcpyPeerAsync => {
                Self::Touch { write: Span::device(a, e), read: Span::device(c, e) }
            }
            Function::cuMemsetD8_v2 | Function::cuMemsetD8Async => Self::fill(a, c),
            Function::cuMemsetD16_v2 | Function::cuMemsetD16Async => {
                Self::fill(a, c.saturating_mul(2))
            }
            Function::cuMemsetD32_v2 | Function::cuMemsetD32Async => {
                Self::fill(a, c.saturating_mul(4))
            }
            Function::cuIpcGetMemHandle => Self::Touch { write: NOTHING, read: Span::device(a, 1) },
            Function::cuDevicePrimaryCtxRetain => Self::Retain { device: a, context: out },
            Function::cuDevicePrimaryCtxRelease | Function::cuDevicePrimaryCtxRelease_v2 => {
                Self::Release { device: a }
            }
            Function::cuDevicePrimaryCtxReset | Function::cuDevicePrimaryCtxReset_v2 => {
                Self::ResetDevice { device: a }
            }
            Function::cuCtxDestroy_v2 => Self::EndContext { context: a },
            _ => Self::Nothing,
        }
    }

    const fn fill(start: u64, size_bytes: u64) -> Self {
        Self::Touch { write: Span::device(start, size_bytes), read: NOTHING }
    }
}
