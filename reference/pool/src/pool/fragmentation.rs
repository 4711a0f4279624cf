//! The most memory that a pool holds from the system, over the most that is in its blocks.
//!
//! `BENCHMARKS.md` has the figures, which
//! `cargo test -p allocert-pool --lib fragmentation -- --nocapture` prints.

use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::read::GzDecoder;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use rstest::rstest;

use super::tests::{Addresses, MIB, pool_bytes, unlimited};
use super::{Cache, Pool};
use crate::StreamKey;

/// The requests of a training of PyTorch 2.11 on an H200, as `runners/gpu/training.py --trace`
/// wrote them: `a NUMBER BYTES` takes a block, `f NUMBER` gives it back.
const TRAINING: &[u8] = include_bytes!("training_trace.txt.gz");

/// The blocks of one caller, by their numbers.
struct Caller<'a> {
    pool: &'a Pool<Addresses>,
    cache: Option<&'a Cache>,
    /// PyTorch names a stream for each request and each free.
    stream: Option<StreamKey>,
    /// Address and size in bytes.
    blocks: BTreeMap<u64, (u64, u64)>,
    live_bytes: u64,
    most_live_bytes: u64,
    most_held_bytes: u64,
}

impl<'a> Caller<'a> {
    fn new(pool: &'a Pool<Addresses>, has_cache: bool, stream: Option<StreamKey>) -> Self {
        let cache = if has_cache { pool.adopt_cache() } else { None };
        let blocks = BTreeMap::new();
        Self { pool, cache, stream, blocks, live_bytes: 0, most_live_bytes: 0, most_held_bytes: 0 }
    }

    fn alloc(&mut self, number: u64, size_bytes: u64) {
        let given = match self.stream {
            Some(stream) => self.pool.alloc_on(stream, self.cache, size_bytes),
            None => self.pool.alloc(self.cache, size_bytes),
        };
        self.blocks.insert(number, (given.expect("memory").address, size_bytes));
        self.live_bytes += size_bytes;
        self.most_live_bytes = self.most_live_bytes.max(self.live_bytes);
        self.most_held_bytes = self.most_held_bytes.max(pool_bytes(self.pool));
    }

    fn free(&mut self, number: u64) {
        let (address, size_bytes) = self.blocks.remove(&number).expect("a live block");
        let freed = match self.stream {
            Some(stream) => self.pool.free_on(stream, address),
            None => self.pool.free(self.cache, address),
        };
        assert_eq!(freed, Ok(()));
        self.live_bytes -= size_bytes;
    }

    /// The fragmentation, which is at most `bar`.
    fn check(&self, what: &str, bar: f64) {
        let (held, live) = (self.most_held_bytes, self.most_live_bytes);
        let ratio = held as f64 / live as f64;
        println!("{what}, cache {}: {held} of {live} bytes, {ratio:.3}", self.cache.is_some());
        assert!(ratio <= bar, "{held} bytes were held for {live}");
    }
}

/// Any of the live blocks is freed, and another one is asked for.
#[rstest]
#[case::all_sizes_1000_live(1000, equally_likely)]
#[case::all_sizes_20000_live(20_000, equally_likely)]
#[case::powers_of_two_1000_live(1000, power_of_two)]
#[case::powers_of_two_20000_live(20_000, power_of_two)]
fn random_lifetimes(
    #[case] live: u64,
    #[case] size_bytes: fn(&mut SplitMix64) -> u64,
    #[values(false, true)] has_cache: bool,
) {
    let pool = unlimited();
    let mut caller = Caller::new(&pool, has_cache, None);
    let mut random = SplitMix64::seed_from_u64(live);
    for number in 0..live * 20 {
        let place = if number < live { number } else { random.next_u64() % live };
        if number >= live {
            caller.free(place);
        }
        caller.alloc(place, size_bytes(&mut random));
    }
    caller.check(&format!("{live} live"), 1.25);
}

#[rstest]
#[case::by_the_table(None)]
#[case::by_the_functions_for_pytorch(Some(StreamKey::new(0)))]
fn training(#[case] stream: Option<StreamKey>, #[values(false, true)] has_cache: bool) {
    let mut text = String::new();
    GzDecoder::new(TRAINING).read_to_string(&mut text).expect("a compressed text");
    let pool = unlimited();
    let mut caller = Caller::new(&pool, has_cache, stream);
    for line in text.lines() {
        let mut words = line.split(' ');
        let kind = words.next();
        let mut number = || words.next().and_then(|word| word.parse().ok()).expect("a number");
        match kind {
            Some("a") => caller.alloc(number(), number()),
            _ => caller.free(number()),
        }
    }
    caller.check("training", 1.25);
}

/// 256 bytes to 1 MiB.
fn equally_likely(random: &mut SplitMix64) -> u64 {
    256 + random.next_u64() % (MIB - 256 + 1)
}

/// The same, each power of two equally likely.
fn power_of_two(random: &mut SplitMix64) -> u64 {
    256 << (random.next_u64() % 13)
}
