//! Rounds with calloc(), which leave no more memory behind than rounds with malloc().

use allocert_suite::observation::Facts;

use crate::churn_and_stress::{Block, BlockSource};
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::rounds::rounds;
use crate::step_result::NoResult;

/// Takes a block of malloc() and frees it, `times` times, and then one of calloc().
pub(crate) fn zeroed_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let give = |block| {
        calls.give(block)?;
        Ok(true)
    };
    let without = rounds(calls, times, || calls.malloc_block(size_bytes), give)?;
    let take_zeros = || {
        let address = calls.calloc(size_bytes, 1)? as u64;
        Ok((address != 0).then_some(Block { address, size_bytes }))
    };
    Ok(rounds(calls, times, take_zeros, give)?.facts_beside(&without))
}
