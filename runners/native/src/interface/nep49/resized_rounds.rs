//! Rounds with realloc(), which leave no more memory behind than rounds without it.

use allocert_suite::observation::Facts;

use crate::churn_and_stress::{Block, BlockSource};
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::rounds::rounds;
use crate::step_result::NoResult;

/// Takes two blocks and frees them, `times` times. Then takes a block and resizes it to the other
/// size, `times` times.
pub(crate) fn resized_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    new_size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let take = || calls.malloc_block(size_bytes);
    let without = rounds(calls, times, take, |old| {
        let Some(new) = calls.malloc_block(new_size_bytes)? else {
            calls.give(old)?;
            return Ok(false);
        };
        // As far as realloc() copies.
        calls.occupy(Block { size_bytes: size_bytes.min(new_size_bytes), ..new });
        calls.give(old)?;
        calls.give(new)?;
        Ok(true)
    })?;
    let resized = rounds(calls, times, take, |old| {
        let address = calls.realloc(old.address as usize, new_size_bytes)? as u64;
        let is_served = address != 0;
        calls.give(if is_served { Block { address, size_bytes: new_size_bytes } } else { old })?;
        Ok(is_served)
    })?;
    Ok(resized.facts_beside(&without))
}
