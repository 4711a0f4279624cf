//! Rounds of threads that end, which leave no more memory behind than rounds of one thread.

use std::thread;

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::churn_and_stress::BlockSource;
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::memory_of_rounds::MemoryOfRounds;
use crate::step_result::{NoResult, facts};

/// Has a thread take blocks and free them, `times` times, and then a new thread each time.
pub(crate) fn thread_rounds(
    calls: HandlerCalls<'_>,
    blocks: u64,
    size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let mut failed = 0;
    let mut one = MemoryOfRounds::resident(times);
    on_new_thread(|| {
        for round in 0..times {
            failed += take_and_give(calls, blocks, size_bytes)?;
            one.after(round);
        }
        Ok(())
    })?;
    let mut new = MemoryOfRounds::resident(times);
    for round in 0..times {
        failed += on_new_thread(|| take_and_give(calls, blocks, size_bytes))?;
        new.after(round);
    }
    Ok(facts([
        ("failed", json!(failed)),
        ("growing_more_bytes", json!(new.growing_more_bytes(&one))),
    ]))
}

fn on_new_thread<T: Send>(work: impl FnOnce() -> Result<T, Raised> + Send) -> Result<T, Raised> {
    thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Takes so many blocks, fills and frees them. Gives how many did not come.
fn take_and_give(calls: HandlerCalls<'_>, blocks: u64, size_bytes: u64) -> Result<u64, Raised> {
    let mut held = Vec::new();
    for _ in 0..blocks {
        held.extend(calls.malloc_block(size_bytes)?);
    }
    held.iter().for_each(|block| calls.occupy(*block));
    let failed = blocks - held.len() as u64;
    held.into_iter().try_for_each(|block| calls.give(block))?;
    Ok(failed)
}
