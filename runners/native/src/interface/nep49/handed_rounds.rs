//! Rounds in which another thread frees each block.

use std::sync::mpsc;
use std::thread;

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::churn_and_stress::{Block, BlockSource};
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::rounds::rounds;
use crate::step_result::NoResult;

/// Takes a block and has another thread free it, `times` times. The thread lives as long as the
/// rounds.
pub(crate) fn handed_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let rounds = thread::scope(|scope| {
        // The thread ends when this closure does, and with it `to_free`.
        let (to_free, given) = mpsc::channel::<Block>();
        let (freed, answers) = mpsc::channel::<Result<(), Raised>>();
        scope.spawn(move || given.into_iter().try_for_each(|block| freed.send(calls.give(block))));
        rounds(
            calls,
            times,
            || calls.malloc_block(size_bytes),
            |block| {
                let _ = to_free.send(block);
                answers.recv().unwrap_or(Ok(()))?;
                Ok(true)
            },
        )
    })?;
    let mut facts = rounds.memory.facts();
    facts.insert("failed".into(), json!(rounds.failed));
    Ok(facts)
}
