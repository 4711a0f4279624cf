//! Rounds that go on only while memory that was freed seems to be lost.

use allocert_suite::interface::nep49::Function;
use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::host_bytes::{self, ProcessMemory};
use crate::interface::nep49::handler::{HandlerCalls, UnrecordedCalls};
use crate::interleave::InterleavedCalls;
use crate::live_blocks::Random;
use crate::step_result::{NoResult, facts};

/// The blocks of the first rounds have so many bytes together: more than the process has free.
const FIRST_BYTES: u64 = 2 << 20;
/// A handler that looks for use after free may hold 512 MiB back. It grows no more when the blocks
/// have so many bytes together.
const HELD_BACK_BYTES: u64 = 640 << 20;
/// Then there are rounds until they have so many.
const MOST_BYTES: u64 = 960 << 20;
/// A handler that holds blocks back may have so many bytes more for each of them.
const OVERHEAD_BYTES: u64 = 64;
/// There are at least so many first rounds.
const FIRST_ROUNDS: u64 = 16;
/// Rounds lose memory that make the process grow by this part of their blocks.
const LOST_PART: u64 = 16;
/// How often to measure in rounds that are as many as all before them.
const MEASURES: u64 = 16;
const PAGE_BYTES: u64 = 4096;

/// Takes a block by a function and frees it, in rounds that are doubled as long as the peak of the
/// resident memory grows with them.
pub(crate) fn leak_rounds(
    calls: HandlerCalls<'_>,
    by: Function,
    size_bytes: u64,
    hold: u64,
) -> Result<Facts, NoResult> {
    let size_bytes = size_bytes.max(1);
    let (recorded, calls) = (calls, calls.unrecorded()?);
    let (random, held) = (Random::default(), Vec::new());
    let mut rounds =
        Rounds { recorded, calls, by, size_bytes, hold, random, held, number: 0, failed: 0 };
    let memory = ProcessMemory::of_this_process();
    let first_bytes = memory.resident_bytes();
    let most_bytes = first_bytes + MOST_BYTES / size_bytes * (size_bytes + OVERHEAD_BYTES);
    let mut last_peak_bytes = first_bytes;
    let mut times = FIRST_ROUNDS.max(FIRST_BYTES / size_bytes);
    let leaked_bytes = loop {
        let peak_bytes = rounds.perform(times, &memory, most_bytes)?;
        let grown_bytes = peak_bytes.saturating_sub(last_peak_bytes);
        if rounds.failed > 0 || grown_bytes < times * size_bytes / LOST_PART {
            break 0;
        }
        if peak_bytes > most_bytes {
            // It loses more with each block than the bytes of the block.
            break grown_bytes;
        }
        let all_bytes = rounds.number * size_bytes;
        let next_bytes = match all_bytes {
            MOST_BYTES.. => break grown_bytes,
            HELD_BACK_BYTES.. => MOST_BYTES - all_bytes,
            _ => all_bytes.min(HELD_BACK_BYTES - all_bytes),
        };
        (last_peak_bytes, times) = (peak_bytes, next_bytes.div_ceil(size_bytes));
    };
    let held = std::mem::take(&mut rounds.held);
    held.into_iter().for_each(|address| rounds.give(address));
    Ok(facts([("failed", json!(rounds.failed)), ("leaked_bytes", json!(leaked_bytes))]))
}

struct Rounds<'a> {
    recorded: HandlerCalls<'a>,
    calls: UnrecordedCalls,
    by: Function,
    size_bytes: u64,
    /// How many blocks are alive at a time.
    hold: u64,
    random: Random,
    held: Vec<usize>,
    /// How many there were.
    number: u64,
    failed: u64,
}

impl Rounds<'_> {
    /// Gives the peak of the resident memory, as far as it was measured. Ends early beyond
    /// `most_bytes`.
    fn perform(
        &mut self,
        times: u64,
        memory: &ProcessMemory,
        most_bytes: u64,
    ) -> Result<u64, Raised> {
        let each = times.div_ceil(MEASURES);
        let mut peak_bytes = 0;
        for round in 1..=times {
            self.recorded.take_recorded_at(self.number)?;
            self.perform_one();
            if round.is_multiple_of(each) || round == times {
                peak_bytes = memory.resident_bytes().max(peak_bytes);
                if peak_bytes > most_bytes {
                    break;
                }
            }
        }
        Ok(peak_bytes)
    }

    fn perform_one(&mut self) {
        self.number += 1;
        let size = self.size_bytes as usize;
        let address = match self.by {
            Function::Malloc => self.calls.take(size),
            Function::Calloc => self.calls.calloc(size),
            Function::Realloc => self.resized(size),
        };
        if address == 0 {
            self.failed += 1;
            return;
        }
        if self.by != Function::Realloc {
            self.occupy(address);
        }
        self.held.push(address);
        // One goes for each that comes, and now and then all go.
        let hold = self.hold.max(1);
        let left = if self.number.is_multiple_of(2 * hold) { 0 } else { hold - 1 };
        while self.held.len() as u64 > left {
            let drawn = self.random.below(self.held.len() as u64) as usize;
            let address = self.held.swap_remove(drawn);
            self.give(address);
        }
    }

    fn give(&self, address: usize) {
        // What a resized block has now.
        let size_bytes = match self.by {
            Function::Malloc | Function::Calloc => self.size_bytes,
            Function::Realloc => self.size_bytes.div_ceil(2),
        };
        self.calls.give(address, size_bytes as usize);
    }

    /// A block of half the size that was the whole size for a while.
    fn resized(&self, size: usize) -> usize {
        let half_bytes = size.div_ceil(2);
        let half = self.calls.take(half_bytes);
        let whole = self.calls.realloc(half, size);
        if whole == 0 {
            self.calls.give(half, half_bytes);
            return 0;
        }
        self.occupy(whole);
        match self.calls.realloc(whole, half_bytes) {
            0 => whole,
            half => half,
        }
    }

    /// Gives pages to a block; to small ones where it is one in each page.
    fn occupy(&self, address: usize) {
        if (self.number * self.size_bytes) % PAGE_BYTES < self.size_bytes {
            host_bytes::occupy(address, self.size_bytes, 1);
        }
    }
}
