//! Rounds with calloc(), which leave no more memory behind than rounds with malloc().

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::churn_and_stress::{Block, BlockSource};
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::resident_memory::ResidentMemory;
use crate::step_result::{NoResult, facts};

/// Takes a block of malloc() and frees it, `times` times, and then one of calloc().
pub(crate) fn zeroed_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let (failed_without, without) = rounds(calls, times, || calls.malloc_block(size_bytes))?;
    let (failed, zeroed) = rounds(calls, times, || {
        let address = calls.calloc(size_bytes, 1)? as u64;
        Ok((address != 0).then_some(Block { address, size_bytes }))
    })?;
    Ok(facts([
        ("failed_without", json!(failed_without)),
        ("failed", json!(failed)),
        ("growing_more_bytes", json!(zeroed.growing_more_bytes(&without))),
    ]))
}

/// Also gives how many requests failed.
fn rounds(
    calls: HandlerCalls<'_>,
    times: u64,
    take: impl Fn() -> Result<Option<Block>, Raised>,
) -> Result<(u64, ResidentMemory), Raised> {
    let mut failed = 0;
    let mut memory = ResidentMemory::before(times);
    for round in 0..times {
        let Some(block) = take()? else {
            failed += 1;
            continue;
        };
        calls.occupy(block);
        calls.give(block)?;
        memory.after(round);
    }
    Ok((failed, memory))
}
