//! Random numbers from a seed and the number of a sequence. They are the same on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// A stream of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    /// The stream of one sequence. Streams of neighbouring numbers have nothing in common.
    pub(crate) fn new(seed: u64, sequence: u64) -> Self {
        let first = |seed| SplitMix64::seed_from_u64(seed).next_u64();
        Self(SplitMix64::seed_from_u64(first(first(seed).wrapping_add(sequence))))
    }

    /// From 0 to `end`, without it; 0 where `end` is 0. The bias of a 64-bit product is of no
    /// account here.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(end)) >> 64) as u64
    }

    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of `things`; each has its weight behind it.
    pub(crate) fn weighted<T: Copy>(&mut self, things: &[(T, u64)]) -> Option<T> {
        let total: u64 = things.iter().map(|(_, weight)| weight).sum();
        let mut at = self.below(total);
        let found = things.iter().find(|(_, weight)| {
            let found = at < *weight;
            at = at.saturating_sub(*weight);
            found
        });
        found.map(|(thing, _)| *thing)
    }

    pub(crate) fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.below(things.len() as u64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixture names the seed that makes it again, so the numbers must stay what they are.
    #[test]
    fn a_seed_gives_these_numbers() {
        let mut random = Random::new(7, 3);
        assert_eq!([random.below(1 << 32), random.below(1 << 32)], [3_500_945_146, 472_143_470]);
    }

    #[test]
    fn neighbouring_sequences_have_nothing_in_common() {
        let of = |seed, sequence| {
            let mut random = Random::new(seed, sequence);
            [0; 3].map(|_| random.below(u64::MAX))
        };
        let all = [of(0, 0), of(0, 1), of(1, 0), of(1, 1)].concat();
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
    }
}
