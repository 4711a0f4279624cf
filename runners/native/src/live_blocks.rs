//! Blocks that a case holds, by address, and pseudo-random sizes for them.

use std::collections::BTreeMap;

use allocert_suite::observation::Facts;
use serde_json::json;

use crate::step_result::facts;

/// What is alive, by address, and what was wrong with it.
#[derive(Debug)]
pub(crate) struct LiveBlocks {
    alignment_of: fn(size_bytes: u64) -> u64,
    ends: BTreeMap<u64, u64>,
    overlaps: u64,
    misaligned: u64,
}

impl LiveBlocks {
    /// No blocks. Each one is to begin at a multiple of what `alignment_of` says for its size.
    pub(crate) fn new(alignment_of: fn(size_bytes: u64) -> u64) -> Self {
        Self { alignment_of, ends: BTreeMap::new(), overlaps: 0, misaligned: 0 }
    }

    /// Enters a block of the size that was asked for.
    pub(crate) fn enter(&mut self, start: u64, size_bytes: u64) {
        let end = start.saturating_add(size_bytes);
        if !start.is_multiple_of((self.alignment_of)(size_bytes)) {
            self.misaligned += 1;
        }
        let below = self.ends.range(..=start).next_back().is_some_and(|(_, end)| *end > start);
        let above = self.ends.range(start..end).next().is_some();
        if below || above {
            self.overlaps += 1;
        }
        self.ends.insert(start, end);
    }

    pub(crate) fn leave(&mut self, start: u64) {
        self.ends.remove(&start);
    }

    pub(crate) fn overlaps(&self) -> u64 {
        self.overlaps
    }

    /// How many blocks met another one, and how many lay wrong.
    pub(crate) fn facts(&self) -> Facts {
        facts([("overlaps", json!(self.overlaps)), ("misaligned", json!(self.misaligned))])
    }
}

/// Pseudo-random numbers, the same in each run and in each worker: the Python worker draws the same
/// ones.
#[derive(Debug, Default)]
pub(crate) struct Random(u64);

impl Random {
    /// From 0 to `bound` - 1, or 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_counted_from_both_sides_and_neighbours_are_none() {
        let mut alive = LiveBlocks::new(|_| 256);
        for start in [0x1000, 0x1100, 0x0f80, 0x1080] {
            alive.enter(start, 256);
        }
        assert_eq!((alive.overlaps, alive.misaligned), (2, 2));
        alive.leave(0x1000);
        assert_eq!(alive.ends.len(), 3);
    }

    #[test]
    fn numbers_are_below_their_bound_and_not_all_the_same() {
        let mut random = Random::default();
        let drawn: Vec<u64> = (0..64).map(|_| random.below(10)).collect();
        assert!((0..10).all(|number| drawn.contains(&number)), "{drawn:?}");
        assert!(drawn.iter().all(|number| *number < 10));
        assert_eq!(random.below(0), 0);
    }
}
