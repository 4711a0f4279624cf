//! Numbers that are the same on every machine: SplitMix64 over a seed and the number of a sequence.

/// A stream of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream of one sequence. Streams of neighbouring numbers have nothing in common.
    pub(crate) fn new(seed: u64, sequence: u64) -> Self {
        let of_seed = Self(seed).next();
        Self(Self(of_seed.wrapping_add(sequence)).next())
    }

    /// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (2014), `mix64` with its
    /// constants.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `end`, without it; 0 where `end` is 0. The bias of a 64-bit product is of no
    /// account here.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.below(things.len() as u64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the published generator for the seed 0.
    #[test]
    fn gives_the_published_numbers() {
        let mut random = Random(0);
        assert_eq!([random.next(), random.next()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn neighbouring_sequences_have_nothing_in_common() {
        let of = |seed, sequence| {
            let mut random = Random::new(seed, sequence);
            [random.next(), random.next(), random.next()]
        };
        let all = [of(0, 0), of(0, 1), of(1, 0), of(1, 1)].concat();
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
    }
}
