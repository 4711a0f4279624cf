//! Rounds in which a wrong count of the bytes that a handler has given out adds up.

use allocert_suite::interface::nep49::Function;
use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::churn_and_stress::{Block, BlockSource};
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::sparse_block::writes_to_all;
use crate::step_result::{NoResult, facts};

/// So many rounds there are with a handler that writes to all of a block, which takes long.
const MOST_WRITTEN: u64 = 4;

/// Takes a block and frees it, `times` times, then resizes it in between, and then frees it with
/// the size `guess`. Writes to no block, so that the system need not give pages to large ones.
/// After rounds that failed there are no others: they would fail because of the first ones.
pub(crate) fn counted_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    new_size_bytes: u64,
    guess: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let times = if writes_to_all(calls, Function::Malloc, size_bytes)? {
        times.min(MOST_WRITTEN)
    } else {
        times
    };
    let failed_without = rounds(calls, size_bytes, times, |block| {
        calls.give(block)?;
        Ok(true)
    })?;
    let times_resized = if failed_without == 0 { times } else { 0 };
    let failed = rounds(calls, size_bytes, times_resized, |block| {
        let address = calls.realloc(block.address as usize, new_size_bytes)? as u64;
        if address == 0 {
            calls.give(block)?;
            return Ok(false);
        }
        calls.give(Block { address, size_bytes: new_size_bytes })?;
        Ok(true)
    })?;
    let times_guessed = if failed == 0 { times_resized } else { 0 };
    let failed_guessed = rounds(calls, size_bytes, times_guessed, |block| {
        calls.free(block.address as usize, guess)?;
        Ok(true)
    })?;
    Ok(facts([
        ("failed_without", json!(failed_without)),
        ("failed", json!(failed)),
        ("failed_guessed", json!(failed_guessed)),
    ]))
}

/// Takes a block and has `end` free it, which gives whether all its requests were served. Gives how
/// many rounds failed.
fn rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    times: u64,
    end: impl Fn(Block) -> Result<bool, Raised>,
) -> Result<u64, Raised> {
    let mut failed = 0;
    for _ in 0..times {
        let served = match calls.malloc_block(size_bytes)? {
            Some(block) => end(block)?,
            None => false,
        };
        failed += u64::from(!served);
    }
    Ok(failed)
}
