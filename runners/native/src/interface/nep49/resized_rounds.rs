//! Rounds of malloc(), realloc() and free(), which use no more memory than one round.

use allocert_suite::observation::Facts;
use serde_json::json;

use crate::churn_and_stress::{Block, BlockSource};
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::resident_memory::ResidentMemory;
use crate::step_result::NoResult;

/// Takes, resizes and frees a block, `times` times.
pub(crate) fn resized_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    new_size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let mut failed = 0_u64;
    let mut memory = ResidentMemory::before(times);
    for round in 0..times {
        let Some(old) = calls.malloc_block(size_bytes)? else {
            failed += 1;
            continue;
        };
        calls.fill(old, 1);
        let block = match calls.realloc(old.address as usize, new_size_bytes)? as u64 {
            0 => {
                failed += 1;
                old
            }
            address => Block { address, size_bytes: new_size_bytes },
        };
        calls.fill(block, 2);
        calls.give(block)?;
        memory.after(round);
    }
    let mut facts = memory.facts();
    facts.insert("failed".into(), json!(failed));
    Ok(facts)
}
