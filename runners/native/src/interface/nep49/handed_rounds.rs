//! Rounds in which another thread frees each block.

use std::sync::mpsc;
use std::thread;

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::churn_and_stress::{Block, BlockSource};
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::resident_memory::ResidentMemory;
use crate::step_result::NoResult;

/// Takes a block and has another thread free it, `times` times. The thread lives as long as the
/// rounds.
pub(crate) fn handed_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let mut memory = ResidentMemory::before(times);
    let failed = thread::scope(|scope| {
        // The thread ends when this closure does, and with it `to_free`.
        let (to_free, given) = mpsc::channel::<Block>();
        let (freed, answers) = mpsc::channel::<Result<(), Raised>>();
        scope.spawn(move || given.into_iter().try_for_each(|block| freed.send(calls.give(block))));
        let mut failed = 0_u64;
        for round in 0..times {
            let Some(block) = calls.malloc_block(size_bytes)? else {
                failed += 1;
                continue;
            };
            calls.occupy(block);
            let _ = to_free.send(block);
            answers.recv().unwrap_or(Ok(()))?;
            memory.after(round);
        }
        Ok::<_, Raised>(failed)
    })?;
    let mut facts = memory.facts();
    facts.insert("failed".into(), json!(failed));
    Ok(facts)
}
