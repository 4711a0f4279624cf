//! Rounds with realloc(), which leave no more memory behind than rounds without it.

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::churn_and_stress::{Block, BlockSource};
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::resident_memory::ResidentMemory;
use crate::step_result::{NoResult, facts};

/// Takes two blocks and frees them, `times` times. Then takes a block and resizes it to the other
/// size, `times` times.
pub(crate) fn resized_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    new_size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let (failed_without, without) = rounds(calls, size_bytes, times, |old| {
        let new = calls.malloc_block(new_size_bytes)?;
        if let Some(new) = new {
            // As far as realloc() copies.
            let copied = Block { size_bytes: size_bytes.min(new_size_bytes), ..new };
            calls.occupy(copied);
        }
        calls.give(old)?;
        Ok(new)
    })?;
    let (failed, resized) = rounds(calls, size_bytes, times, |old| {
        let address = calls.realloc(old.address as usize, new_size_bytes)? as u64;
        if address == 0 {
            calls.give(old)?;
            return Ok(None);
        }
        Ok(Some(Block { address, size_bytes: new_size_bytes }))
    })?;
    Ok(facts([
        ("failed_without", json!(failed_without)),
        ("failed", json!(failed)),
        ("growing_more_bytes", json!(resized.growing_more_bytes(&without))),
    ]))
}

/// Takes a block, fills it, has `change` give up its block for another one, and frees that. Also
/// gives how many requests failed.
fn rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    times: u64,
    change: impl Fn(Block) -> Result<Option<Block>, Raised>,
) -> Result<(u64, ResidentMemory), Raised> {
    let mut failed = 0;
    let mut memory = ResidentMemory::before(times);
    for round in 0..times {
        let Some(old) = calls.malloc_block(size_bytes)? else {
            failed += 1;
            continue;
        };
        calls.occupy(old);
        match change(old)? {
            Some(new) => calls.give(new)?,
            None => failed += 1,
        }
        memory.after(round);
    }
    Ok((failed, memory))
}
