//! A block of many gigabytes that has no pages.

use allocert_suite::interface::nep49::Function;
use allocert_suite::observation::Raised;

use crate::churn_and_stress::{Block, BlockSource};
use crate::host_bytes::{ProcessMemory, peak_resident_bytes};
use crate::interface::nep49::handler::HandlerCalls;
use crate::step_result::NoResult;

/// What a handler does to a block it does to one of so many bytes.
const PROBE_BYTES: u64 = 64 << 20;
const ELEMENT_BYTES: u64 = 64 << 10;

/// Takes a block, unless the system would give pages to it.
pub(crate) fn sparse_block(
    calls: HandlerCalls<'_>,
    by: Function,
    size_bytes: u64,
) -> Result<Block, NoResult> {
    if writes_to_all(calls, by, PROBE_BYTES)? {
        return Err(declined("the handler writes to all of a block, or keeps it in memory"));
    }
    take(calls, by, size_bytes)?.ok_or_else(|| declined("the handler has no such block"))
}

/// Whether the function or free() writes to most bytes of a block: then the system gives it pages.
pub(super) fn writes_to_all(
    calls: HandlerCalls<'_>,
    by: Function,
    size_bytes: u64,
) -> Result<bool, Raised> {
    let before_bytes = ProcessMemory::of_this_process().resident_bytes();
    if let Some(block) = take(calls, by, size_bytes)? {
        calls.give(block)?;
    }
    Ok(peak_resident_bytes().saturating_sub(before_bytes) > size_bytes / 2)
}

fn take(calls: HandlerCalls<'_>, by: Function, size_bytes: u64) -> Result<Option<Block>, Raised> {
    let address = match by {
        Function::Malloc => calls.malloc(size_bytes)?,
        Function::Calloc => calls.calloc(size_bytes / ELEMENT_BYTES, ELEMENT_BYTES)?,
        Function::Realloc => calls.realloc(0, size_bytes)?,
    };
    Ok((address != 0).then_some(Block { address: address as u64, size_bytes }))
}

fn declined(because: &str) -> NoResult {
    NoResult::Declined { because: because.to_owned() }
}
