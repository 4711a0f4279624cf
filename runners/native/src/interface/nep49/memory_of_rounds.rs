//! The memory of the process over rounds of the same calls.

use allocert_suite::observation::Facts;
use serde_json::json;

use crate::host_bytes::ProcessMemory;
use crate::step_result::facts;

const QUARTERS: u64 = 4;

/// What rounds leave behind. A cache or a quarantine grows until it is full; a leak grows in every
/// quarter of the rounds. The peaks count, because memory that a handler frees in batches goes up
/// and down.
pub(crate) struct MemoryOfRounds {
    memory: ProcessMemory,
    measure: fn(&ProcessMemory) -> u64,
    rounds: u64,
    before_bytes: u64,
    peaks_bytes: [u64; QUARTERS as usize],
}

impl MemoryOfRounds {
    /// Measures what has pages, before the first of so many rounds.
    pub(crate) fn resident(rounds: u64) -> Self {
        Self::before(rounds, ProcessMemory::resident_bytes)
    }

    /// Measures all that is mapped, before the first of so many rounds.
    pub(crate) fn mapped(rounds: u64) -> Self {
        Self::before(rounds, ProcessMemory::mapped_bytes)
    }

    fn before(rounds: u64, measure: fn(&ProcessMemory) -> u64) -> Self {
        let memory = ProcessMemory::of_this_process();
        let before_bytes = measure(&memory);
        Self { memory, measure, rounds, before_bytes, peaks_bytes: [0; QUARTERS as usize] }
    }

    /// Measures after a round; they count from 0.
    pub(crate) fn after(&mut self, round: u64) {
        self.note(round, (self.measure)(&self.memory));
    }

    fn note(&mut self, round: u64, bytes: u64) {
        let peak = &mut self.peaks_bytes[(round * QUARTERS / self.rounds) as usize];
        *peak = bytes.max(*peak);
    }

    /// By how much it has grown since before the rounds.
    pub(crate) fn kept_bytes(&self) -> u64 {
        (self.measure)(&self.memory).saturating_sub(self.before_bytes)
    }

    /// By how much its peak grew at least from each quarter to the next.
    pub(crate) fn growing_bytes(&self) -> u64 {
        self.growths().min().unwrap_or(0)
    }

    /// By how much more it was at least than the most from one quarter to the next in other rounds.
    /// What a handler keeps of all that is freed counts in both, and so does the record of the
    /// calls.
    pub(crate) fn growing_more_bytes(&self, others: &Self) -> u64 {
        self.growing_bytes().saturating_sub(others.growths().max().unwrap_or(0))
    }

    fn growths(&self) -> impl Iterator<Item = u64> {
        self.peaks_bytes.windows(2).map(|pair| pair[1].saturating_sub(pair[0]))
    }

    /// `kept_bytes` and `growing_bytes`.
    pub(crate) fn facts(&self) -> Facts {
        facts([
            ("kept_bytes", json!(self.kept_bytes())),
            ("growing_bytes", json!(self.growing_bytes())),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growing(resident_bytes: impl IntoIterator<Item = u64>) -> u64 {
        after(resident_bytes).growing_bytes()
    }

    /// After rounds that leave this resident.
    fn after(resident_bytes: impl IntoIterator<Item = u64>) -> MemoryOfRounds {
        let resident_bytes: Vec<u64> = resident_bytes.into_iter().collect();
        let rounds = resident_bytes.len() as u64;
        let mut memory = MemoryOfRounds { before_bytes: 0, ..MemoryOfRounds::resident(rounds) };
        for (round, resident_bytes) in (0..).zip(resident_bytes) {
            memory.note(round, resident_bytes);
        }
        memory
    }

    #[test]
    fn a_leak_grows_by_the_same_in_each_quarter() {
        assert_eq!(growing((0..800).map(|round| round / 10)), 20);
    }

    #[test]
    fn a_quarantine_that_is_full_after_three_quarters_stops_growing() {
        assert_eq!(growing((0..800).map(|round| round.min(599))), 0);
        assert_eq!(growing((0..800).map(|round| round.min(512))), 0);
    }

    #[test]
    fn memory_that_is_freed_in_batches_does_not_grow() {
        assert_eq!(growing((0..800).map(|round| round % 150)), 0);
        assert_eq!(growing((0..800).map(|round| round % 130)), 0);
    }

    #[test]
    fn a_quarantine_that_is_not_full_yet_grows_no_more_than_in_other_rounds() {
        let (others, rounds) = (after(0..800), after(800..1600));
        assert_eq!(rounds.growing_more_bytes(&others), 0);
    }

    #[test]
    fn a_leak_grows_more_than_rounds_without_it() {
        let others = after((0..800).map(|round| round / 4));
        assert_eq!(after(200..1000).growing_more_bytes(&others), 150);
    }

    #[test]
    fn rounds_that_are_fewer_than_quarters_do_not_grow() {
        assert_eq!(growing([5, 9]), 0);
        assert_eq!(growing([]), 0);
    }
}
