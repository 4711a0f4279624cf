//! Rounds of the same calls, and the memory that they leave behind.

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::churn_and_stress::Block;
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::memory_of_rounds::MemoryOfRounds;
use crate::step_result::facts;

/// What rounds came to.
pub(crate) struct Rounds {
    /// How many of them were not served.
    pub(crate) failed: u64,
    pub(crate) memory: MemoryOfRounds,
}

/// Takes a block, gives pages to it and has `end` give it back, `times` times. `end` gives whether
/// all its requests were served.
pub(crate) fn rounds(
    calls: HandlerCalls<'_>,
    times: u64,
    take: impl Fn() -> Result<Option<Block>, Raised>,
    end: impl Fn(Block) -> Result<bool, Raised>,
) -> Result<Rounds, Raised> {
    let mut failed = 0;
    let mut memory = MemoryOfRounds::resident(times);
    for round in 0..times {
        let Some(block) = take()? else {
            failed += 1;
            continue;
        };
        calls.occupy(block);
        failed += u64::from(!end(block)?);
        memory.after(round);
    }
    Ok(Rounds { failed, memory })
}

impl Rounds {
    /// The facts of rounds that must leave no more memory behind than the rounds `without`.
    pub(crate) fn facts_beside(&self, without: &Self) -> Facts {
        facts([
            ("failed_without", json!(without.failed)),
            ("failed", json!(self.failed)),
            ("growing_more_bytes", json!(self.memory.growing_more_bytes(&without.memory))),
        ])
    }
}
