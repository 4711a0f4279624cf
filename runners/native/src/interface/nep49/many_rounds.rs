//! More rounds than a record takes: a table of a handler that is full, and what it opens or maps.

use allocert_suite::observation::{Facts, Raised};
use rustix::process::{Resource, getrlimit};
use serde_json::json;

use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::memory_of_rounds::MemoryOfRounds;
use crate::interleave::InterleavedCalls;
use crate::live_blocks::Random;
use crate::step_result::facts;

/// How often to measure in all rounds.
const MEASURES: u64 = 200;

/// A cache for each size is full after a quarter of the rounds.
const SIZES: u64 = 16;

/// Takes and frees blocks of 16 sizes up to `size_bytes`, `times` times, with `hold` alive at a
/// time. Writes to none of them. Ends at the first request that is refused.
pub(crate) fn many_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    times: u64,
    hold: u64,
) -> Result<Facts, Raised> {
    let (recorded, calls) = (calls, calls.unrecorded()?);
    let (mut random, mut held, mut failed) = (Random::default(), Vec::new(), 0_u64);
    let (open_before, mut mapped) = (open_files(), MemoryOfRounds::mapped(times));
    for round in 0..times {
        recorded.take_recorded_at(round)?;
        let size = ((random.below(SIZES) + 1) * size_bytes / SIZES) as usize;
        let block = calls.take(size);
        if block == 0 {
            failed += 1;
            break;
        }
        held.push((block, size));
        if held.len() as u64 >= hold.max(1) {
            let (block, size) = held.swap_remove(random.below(held.len() as u64) as usize);
            calls.give(block, size);
        }
        if round.is_multiple_of(times.div_ceil(MEASURES)) {
            mapped.after(round);
        }
    }
    held.into_iter().for_each(|(block, size)| calls.give(block, size));
    let opened = open_files().saturating_sub(open_before);
    Ok(facts([
        ("failed", json!(failed)),
        ("opened", json!(opened)),
        ("growing_bytes", json!(mapped.growing_bytes())),
    ]))
}

/// How many files the process has open: as many as it may have, where it can open no more.
fn open_files() -> u64 {
    let most = || getrlimit(Resource::Nofile).current.unwrap_or(0);
    std::fs::read_dir("/proc/self/fd").map_or_else(|_| most(), |entries| entries.count() as u64)
}
