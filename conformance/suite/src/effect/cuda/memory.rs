//! What a driver call does to memory. "Memory Management" and "Stream Ordered Memory Allocator".

use allocert_contract::trace::{
    Call, What,
    cuda::{Function, Misuse, RowCopy, Rows},
};

use crate::effect::cuda::MemoryClass;
use crate::effect::{AddressSpace, Effect, FreeAnswer, MemorySource, Span};

const INVALID_VALUE: i32 = 1;
const DEINITIALIZED: i32 = 4;
const HOST_MEMORY_NOT_REGISTERED: i32 = 713;

const NOTHING: Span = device(0, 0);

pub(crate) fn memory_effect(function: Function, call: &Call) -> Effect {
    let ([a, b, c, d, e, ..], [out, second, _]) = (call.args, call.out);
    match function {
        Function::cuMemAlloc_v2
        | Function::cuMemAllocManaged
        | Function::cuMemAllocAsync
        | Function::cuMemAllocFromPoolAsync => {
            Effect::Take { start: out, size_bytes: a, source: MemorySource::Device }
        }
        Function::cuMemAllocPitch_v2 => Effect::Take {
            start: out,
            size_bytes: second.saturating_mul(b),
            source: MemorySource::Device,
        },
        Function::cuMemAllocHost_v2 | Function::cuMemHostAlloc => {
            Effect::Take { start: out, size_bytes: a, source: MemorySource::PageLocked }
        }
        Function::cuMemHostRegister_v2 => {
            Effect::Take { start: a, size_bytes: b, source: MemorySource::Registered }
        }
        Function::cuMemFree_v2 | Function::cuMemFreeAsync => {
            Effect::Give { start: a, source: MemorySource::Device }
        }
        Function::cuMemFreeHost => Effect::Give { start: a, source: MemorySource::PageLocked },
        Function::cuMemHostUnregister => {
            Effect::Give { start: a, source: MemorySource::Registered }
        }
        Function::cuMemcpy | Function::cuMemcpyAsync => {
            Effect::Touch { write: unified(a, c), read: unified(b, c) }
        }
        Function::cuMemcpyDtoD_v2 | Function::cuMemcpyDtoDAsync_v2 => {
            Effect::Touch { write: device(a, c), read: device(b, c) }
        }
        Function::cuMemcpyHtoD_v2 | Function::cuMemcpyHtoDAsync_v2 => {
            Effect::Touch { write: device(a, c), read: host(b, c) }
        }
        Function::cuMemcpyDtoH_v2 | Function::cuMemcpyDtoHAsync_v2 => {
            Effect::Touch { write: host(a, c), read: device(b, c) }
        }
        Function::cuMemcpyPeer | Function::cuMemcpyPeerAsync => {
            Effect::Touch { write: device(a, e), read: device(c, e) }
        }
        function if function.is_row_copy() => {
            let RowCopy { to, from, width_bytes, height, depth, .. } = RowCopy::read(call.args);
            let side = |rows: Rows| {
                let pitch = u64::from(rows.pitch);
                Span::new(rows.start, width_bytes, space(rows.memory_type))
                    .rows(height.into(), pitch)
                    .slices(depth.into(), pitch * u64::from(rows.slice_rows))
            };
            Effect::Touch { write: side(to), read: side(from) }
        }
        Function::cuMemsetD8_v2 | Function::cuMemsetD8Async => fill(a, c),
        Function::cuMemsetD16_v2 | Function::cuMemsetD16Async => fill(a, c.saturating_mul(2)),
        Function::cuMemsetD32_v2 | Function::cuMemsetD32Async => fill(a, c.saturating_mul(4)),
        Function::cuMemsetD2D8_v2 | Function::cuMemsetD2D8Async => fill_rows(a, b, 1, d, e),
        Function::cuMemsetD2D16_v2 | Function::cuMemsetD2D16Async => fill_rows(a, b, 2, d, e),
        Function::cuMemsetD2D32_v2 | Function::cuMemsetD2D32Async => fill_rows(a, b, 4, d, e),
        Function::cuIpcGetMemHandle => Effect::Touch { write: NOTHING, read: device(a, 1) },
        _ => Effect::Nothing,
    }
}

const fn fill(start: u64, size_bytes: u64) -> Effect {
    Effect::Touch { write: device(start, size_bytes), read: NOTHING }
}

fn fill_rows(start: u64, pitch: u64, element_bytes: u64, width: u64, height: u64) -> Effect {
    let row = device(start, width.saturating_mul(element_bytes));
    Effect::Touch { write: row.rows(height, pitch), read: NOTHING }
}

/// Reads the result of a call that gives memory back.
pub(crate) fn free_answer(call: &Call) -> FreeAnswer {
    match call.result {
        Some(0) => FreeAnswer::Accepted,
        Some(DEINITIALIZED) => FreeAnswer::ShutDown,
        Some(INVALID_VALUE | HOST_MEMORY_NOT_REGISTERED) | None => FreeAnswer::UnknownAddress,
        Some(_) => FreeAnswer::Failed,
    }
}

/// The half-open range of memory that queued work reached after it was freed.
pub(crate) fn reached_after_free(what: &What) -> Option<(u64, u64)> {
    match what {
        What::Misuse { misuse: Misuse::WorkAfterFree, args: [start, size_bytes], .. } => {
            Some((*start, start.saturating_add((*size_bytes).max(1))))
        }
        _ => None,
    }
}

/// The function that the CUDA runtime begins with: it asks for private tables.
pub(crate) const BEGIN_OF_RUNTIME: Function = Function::cuGetExportTable;

/// Whether a function belongs to "Virtual Memory Management", or takes memory that another process
/// shares. Nothing here follows the memory of these functions.
pub(crate) fn manages_unseen_memory(function: Function) -> bool {
    const BEGINNINGS: [&str; 10] = [
        "cuMemAddressFree",
        "cuMemAddressReserve",
        "cuMemCreate",
        "cuMemGetAllocationGranularity",
        "cuMemImportFromShareableHandle",
        "cuMemMap",
        "cuMemPoolImport",
        "cuMemRelease",
        "cuMemSetAccess",
        "cuMemUnmap",
    ];
    BEGINNINGS.iter().any(|beginning| function.name().starts_with(beginning))
}

/// Whether a caller of this function may give memory back whose size the call does not tell:
/// memory of pools and virtual memory, and its own memory that was page-locked.
pub(crate) fn gives_back_unseen(function: Function) -> bool {
    let of_pool = function.name().starts_with("cuMemPool") || function == Function::cuMemFreeAsync;
    of_pool || function == Function::cuMemHostUnregister || manages_unseen_memory(function)
}

/// Whether a library that gets its memory with this function has none on a driver without the
/// function: one for virtual memory, or the one with which the CUDA runtime begins.
pub(crate) fn is_needed_for_memory(function: Function) -> bool {
    manages_unseen_memory(function) || function == BEGIN_OF_RUNTIME
}

/// What kind of memory a function takes.
pub(crate) fn memory_class(function: Function) -> MemoryClass {
    match function {
        Function::cuMemAllocManaged => MemoryClass::Managed,
        Function::cuMemAllocAsync | Function::cuMemAllocFromPoolAsync => MemoryClass::Pool,
        Function::cuMemAllocHost_v2 | Function::cuMemHostAlloc => MemoryClass::Pinned,
        Function::cuMemHostRegister_v2 => MemoryClass::Registered,
        _ => MemoryClass::Device,
    }
}

/// The space of a `CUmemorytype`.
fn space(memory_type: u32) -> AddressSpace {
    const HOST: u32 = 1;
    const UNIFIED: u32 = 4;
    match memory_type {
        HOST => AddressSpace::Host,
        UNIFIED => AddressSpace::Unified,
        _ => AddressSpace::Device,
    }
}

const fn device(start: u64, size_bytes: u64) -> Span {
    Span::new(start, size_bytes, AddressSpace::Device)
}

const fn host(start: u64, size_bytes: u64) -> Span {
    Span::new(start, size_bytes, AddressSpace::Host)
}

const fn unified(start: u64, size_bytes: u64) -> Span {
    Span::new(start, size_bytes, AddressSpace::Unified)
}
