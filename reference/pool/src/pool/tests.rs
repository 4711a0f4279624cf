use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use rstest::rstest;

use super::*;
use crate::StreamKey;

pub(super) const MIB: u64 = 1 << 20;

/// Device memory of a given size that nobody reads or writes.
#[derive(Debug)]
pub(super) struct Addresses {
    left_bytes: AtomicU64,
    next: AtomicU64,
    waits: AtomicU64,
    cannot_wait: AtomicBool,
    refuses_back: AtomicBool,
    reserved: Mutex<BTreeMap<u64, u64>>,
}

impl Addresses {
    fn new(size_bytes: u64) -> Self {
        let (left_bytes, next) = (AtomicU64::new(size_bytes), AtomicU64::new(1 << 40));
        let (waits, cannot_wait) = (AtomicU64::new(0), AtomicBool::new(false));
        let (refuses_back, reserved) = (AtomicBool::new(false), Mutex::default());
        Self { left_bytes, next, waits, cannot_wait, refuses_back, reserved }
    }

    fn chunks(&self) -> usize {
        lock(&self.reserved).len()
    }
}

/// Why [`Addresses`] does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Full,
    Busy,
}

/// No request fits.
const FULL: Error<Refusal> = Error::OutOfMemory(Some(Refusal::Full));

impl System for Addresses {
    type Error = Refusal;

    const GRAIN_BYTES: u64 = 256;
    const CHUNK_GRAIN_BYTES: u64 = 256;
    const CACHE_BYTES: u64 = 24 << 20;
    const CLASS_BYTES: u64 = 512 << 10;
    const SURVIVES_FORK: bool = false;

    fn is_out_of_memory(error: Refusal) -> bool {
        error == Refusal::Full
    }

    fn reserve(&self, size_bytes: u64) -> Result<u64, Refusal> {
        assert!(size_bytes.is_multiple_of(Self::CHUNK_GRAIN_BYTES));
        let take = |left: u64| left.checked_sub(size_bytes);
        let taken = self.left_bytes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
        taken.map_err(|_| Refusal::Full)?;
        let address = self.next.fetch_add(size_bytes + PAGE_BYTES, Ordering::SeqCst);
        lock(&self.reserved).insert(address, size_bytes);
        Ok(address)
    }

    fn wait_for_work(&self) -> Result<(), Refusal> {
        if self.cannot_wait.load(Ordering::SeqCst) {
            return Err(Refusal::Busy);
        }
        self.waits.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn give_back(&self, chunk: Region) -> bool {
        assert_eq!(lock(&self.reserved).remove(&chunk.address), Some(chunk.size_bytes));
        self.left_bytes.fetch_add(chunk.size_bytes, Ordering::SeqCst);
        !self.refuses_back.load(Ordering::SeqCst)
    }
}

fn address(given: Result<Given, Error<Refusal>>) -> Option<u64> {
    given.ok().map(|given| given.address)
}

fn pool(size_bytes: u64, settings: Settings) -> Pool<Addresses> {
    Pool::new(Addresses::new(size_bytes), settings)
}

pub(super) fn unlimited() -> Pool<Addresses> {
    pool(1 << 50, Settings::default())
}

pub(super) fn pool_bytes(pool: &Pool<Addresses>) -> u64 {
    pool.engine().pool_bytes
}

/// The simplest model: the live ranges by address.
#[rstest]
fn live_blocks_are_aligned_disjoint_and_counted(
    #[values(false, true)] with_cache: bool,
    #[values(1, 0xdead_beef)] seed: u64,
) {
    let steps = if cfg!(miri) { 300 } else { 20_000 };
    let pool = pool(96 * MIB, Settings { initial_pool_bytes: 4 * MIB, max_pool_bytes: None });
    let cache = if with_cache { pool.adopt_cache() } else { None };
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut below = |limit: u64| random.next_u64() % limit;
    let mut live: BTreeMap<u64, u64> = BTreeMap::new();
    for _ in 0..steps {
        match below(1000) {
            0 => {
                pool.release();
            }
            1..550 => {
                let power = below(24);
                let size_bytes = below(1 << power) + 1;
                match pool.alloc(cache, size_bytes) {
                    Ok(given) => admit(&mut live, &pool, given.address, size_bytes),
                    Err(error) => assert_eq!(error, FULL),
                }
            }
            550..560 => {
                let address = below(1 << 10) * 256 + (1 << 40) + below(2);
                if !live.contains_key(&address) {
                    let error = pool.free(cache, address).expect_err("no live block");
                    assert!(matches!(error, Error::NoBlock(at) | Error::FreedBefore(at)
                        if at == address));
                }
            }
            _ => {
                let from = (1 << 40) + below(200 * MIB);
                if let Some((&address, _)) = live.range(from..).next() {
                    assert_eq!(pool.free(cache, address), Ok(()));
                    live.remove(&address);
                    assert!(pool.free(cache, address).is_err());
                }
            }
        }
        assert_eq!(pool.used_bytes(), live.values().sum::<u64>());
    }
    for address in live.into_keys() {
        assert_eq!(pool.free(cache, address), Ok(()));
    }
    assert_eq!(pool.used_bytes(), 0);
    let held = 96 * MIB - pool.system.left_bytes.load(Ordering::SeqCst);
    assert_eq!(pool.release(), held);
    assert_eq!((pool.system.chunks(), pool.release()), (0, 0));
}

#[test]
fn what_the_system_does_not_take_back_is_not_counted() {
    let pool = unlimited();
    let block = pool.alloc(None, MIB).expect("there is memory").address;
    assert_eq!(pool.free(None, block), Ok(()));
    pool.system.refuses_back.store(true, Ordering::SeqCst);
    assert_eq!((pool.release(), pool_bytes(&pool)), (0, 0));
}

fn admit(live: &mut BTreeMap<u64, u64>, pool: &Pool<Addresses>, address: u64, size_bytes: u64) {
    assert!(address.is_multiple_of(256));
    let reserved = lock(&pool.system.reserved);
    let (chunk, chunk_bytes) = reserved.range(..=address).next_back().expect("memory below it");
    assert!(address + size_bytes <= chunk + chunk_bytes, "it leaves the chunk");
    let before = live.range(..=address).next_back();
    assert!(before.is_none_or(|(start, bytes)| start + bytes <= address));
    let after = live.range(address..).next();
    assert!(after.is_none_or(|(start, _)| address + size_bytes <= *start));
    live.insert(address, size_bytes);
}

#[test]
fn what_is_no_live_block_is_refused_and_changes_nothing() {
    let pool = unlimited();
    let cache = pool.adopt_cache();
    for cache in [cache, None] {
        let block = pool.alloc(cache, 1000).expect("memory").address;
        let other = pool.alloc(cache, 3 * MIB).expect("memory").address;
        for address in [block + 256, block + 1, other + MIB, 4096, u64::MAX] {
            assert_eq!(pool.free(cache, address), Err(Error::NoBlock(address)));
        }
        assert_eq!(pool.used_bytes(), 1000 + 3 * MIB);
        assert_eq!([pool.free(cache, block), pool.free(cache, other)], [Ok(()); 2]);
        assert!(pool.free(cache, block).is_err() && pool.free(cache, other).is_err());
        assert_eq!(pool.used_bytes(), 0);
    }
}

#[test]
fn no_size_is_too_large_for_an_error() {
    let pool = pool(64 * MIB, Settings::default());
    let cache = pool.adopt_cache();
    let kept = pool.alloc(cache, 100).expect("memory").address;
    for size_bytes in [u64::MAX, u64::MAX - 255, 1 << 63, (1 << 57) + 1, 1 << 57, 65 * MIB] {
        let error = pool.alloc(cache, size_bytes).expect_err("too much");
        assert!(error == FULL || error == Error::OutOfMemory(None));
    }
    assert_eq!((pool.used_bytes(), pool.free(cache, kept)), (100, Ok(())));
}

#[test]
fn idle_memory_goes_back_before_a_request_fails() {
    let pool = pool(64 * MIB, Settings::default());
    let (mine, theirs) = (pool.adopt_cache(), pool.adopt_cache());
    // All memory, in pieces that two threads keep.
    let blocks: Vec<_> = (0..60).map(|_| pool.alloc(mine, MIB).expect("memory").address).collect();
    for (at, block) in blocks.into_iter().enumerate() {
        assert_eq!(pool.free(if at % 2 == 0 { mine } else { theirs }, block), Ok(()));
    }
    assert!(pool.caches().all(|cache| cache.idle_bytes() > 0));
    let whole = pool.alloc(mine, 64 * MIB).expect("all of it is idle").address;
    assert_eq!(pool.alloc(theirs, 1), Err(FULL));
    assert_eq!(pool.free(theirs, whole), Ok(()));
    assert!(pool.alloc(theirs, 1).is_ok());
}

#[test]
fn a_pool_grows_to_its_limit() {
    let settings = Settings { initial_pool_bytes: 3 * MIB, max_pool_bytes: Some(5 * MIB) };
    let pool = pool(1 << 40, settings);
    let first = pool.alloc(None, 100).expect("memory").address;
    assert_eq!(pool_bytes(&pool), 4 * MIB);
    assert_eq!(pool.alloc(None, 5 * MIB), Err(Error::OutOfMemory(None)));
    assert_eq!(pool.alloc(None, 4 * MIB), Err(Error::OutOfMemory(None)));
    assert_eq!(pool.free(None, first), Ok(()));
    let most = pool.alloc(None, 5 * MIB).expect("the first chunk went back").address;
    assert_eq!((pool_bytes(&pool), pool.free(None, most)), (5 * MIB, Ok(())));
    assert_eq!((pool.release(), pool_bytes(&pool)), (5 * MIB, 0));
}

/// Chunks that grow leave little over behind blocks that are nearly as long.
#[rstest]
fn memory_is_full_of_blocks_of_one_size(#[values(20, 33, 64, 128)] mib: u64) {
    let pool = pool(2176 * MIB, Settings::default());
    let fit = (0..).take_while(|_| pool.alloc(None, mib * MIB).is_ok()).count() as u64;
    assert!(fit * mib >= 2176 * 9 / 10, "{fit} blocks of {mib} MiB");
}

#[test]
fn a_thread_gives_its_cache_to_the_next_one() {
    let pool = unlimited();
    let cache = pool.adopt_cache().expect("the first");
    let block = pool.alloc(Some(cache), 100).expect("memory").address;
    assert_eq!(pool.free(Some(cache), block), Ok(()));
    assert!(cache.idle_bytes() > 0);
    pool.retire_cache(cache);
    assert_eq!(cache.idle_bytes(), 0);
    assert!(std::ptr::eq(pool.adopt_cache().expect("the same"), cache));
    assert!(!std::ptr::eq(pool.adopt_cache().expect("another"), cache));
}

#[test]
fn threads_give_each_others_blocks_back() {
    let rounds = if cfg!(miri) { 30 } else { 3_000 };
    let pool = unlimited();
    let slots: Vec<AtomicU64> = (0..64).map(|_| AtomicU64::new(0)).collect();
    thread::scope(|scope| {
        for seed in 0..4 {
            let (pool, slots) = (&pool, &slots);
            scope.spawn(move || {
                let cache = pool.adopt_cache();
                let mut random = SplitMix64::seed_from_u64(seed);
                for _ in 0..rounds {
                    let word = random.next_u64();
                    let block =
                        pool.alloc(cache, (word >> 32) % (3 * MIB) + 1).expect("memory").address;
                    let old = slots[(word % 64) as usize].swap(block, Ordering::AcqRel);
                    if old != 0 {
                        assert_eq!(pool.free(cache, old), Ok(()));
                    }
                }
                pool.retire_cache(cache.expect("few threads"));
            });
        }
        scope.spawn(|| {
            for _ in 0..rounds / 30 {
                pool.release();
                thread::yield_now();
            }
        });
    });
    for slot in &slots {
        let block = slot.load(Ordering::Acquire);
        assert!(block == 0 || pool.free(None, block) == Ok(()));
    }
    assert_eq!(pool.used_bytes(), 0);
    pool.release();
    assert_eq!(pool.system.chunks(), 0);
}

/// Of all threads that free a block at once, one succeeds.
#[test]
fn a_block_is_freed_once() {
    let rounds = if cfg!(miri) { 10 } else { 2_000 };
    let pool = unlimited();
    for _ in 0..rounds {
        let block = pool.alloc(None, 512).expect("memory").address;
        let freed: usize = thread::scope(|scope| {
            let free = || usize::from(pool.free(pool.adopt_cache(), block).is_ok());
            let threads = [scope.spawn(free), scope.spawn(free)];
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!((freed, pool.used_bytes()), (1, 0));
        pool.caches().for_each(Cache::abandon);
    }
}

/// A name is of one caller. Reset makes older ones harmless.
#[test]
fn a_name_ends_once_and_is_forgotten_with_the_pool() {
    let pool = unlimited();
    let cache = pool.cache_of_thread();
    for size_bytes in [0, 1000, 3 * MIB] {
        let [first, second] =
            [(); 2].map(|()| pool.alloc(Some(cache), size_bytes).expect("memory"));
        assert!(first.address != second.address && first.name != second.name);
        let location = pool.locate(second.name).expect("live");
        assert_eq!((location.address, location.size_bytes), (second.address, size_bytes));
        assert!(lock(&pool.system.reserved).contains_key(&location.chunk));
        let free = |name| pool.free_named(cache, name);
        assert_eq!([free(first.name), free(first.name)], [Ended::Now, Ended::Before]);
        let again = pool.alloc(Some(cache), size_bytes).expect("memory");
        assert!(again.address == first.address && again.name != first.name);
        assert_eq!((free(first.name), pool.locate(first.name)), (Ended::Before, None));
        pool.clear();
        assert_eq!((pool.used_bytes(), pool.idle_bytes(), pool.system.chunks()), (0, 0, 0));
        let new = pool.alloc(Some(cache), size_bytes).expect("memory");
        for name in [first.name, second.name, again.name] {
            assert_eq!((free(name), pool.locate(name)), (Ended::Forgotten, None));
        }
        assert_eq!(pool.used_bytes(), size_bytes);
        assert_eq!([free(new.name), free(new.name)], [Ended::Now, Ended::Before]);
    }
    let unknown = Name::new(1 << 20, 1);
    assert_eq!((pool.free_named(cache, unknown), pool.locate(unknown)), (Ended::Never, None));
}

/// A number that has had as many callers as a name can tell apart names no further block.
#[rstest]
fn a_spent_number_is_not_given_again(#[values(100, 3 * MIB)] size_bytes: u64) {
    let pool = unlimited();
    let cache = pool.cache_of_thread();
    let first = pool.alloc(Some(cache), size_bytes).expect("memory");
    let callers = pool.blocks.get(first.name.number());
    assert_eq!(pool.free_named(cache, first.name), Ended::Now);
    callers.spend();
    let last = pool.alloc(Some(cache), size_bytes).expect("memory");
    assert_eq!(last.address, first.address);
    assert_eq!(pool.free_named(cache, last.name), Ended::Now);
    pool.clear();
    let live: Vec<_> =
        (0..100).map(|_| pool.alloc(Some(cache), size_bytes).expect("memory")).collect();
    assert!(live.iter().all(|given| given.name.number() != first.name.number()));
    assert!(live.iter().all(|given| pool.free(Some(cache), given.address).is_ok()));
    assert_eq!(pool.free_named(cache, last.name), Ended::Forgotten);
    pool.release();
    assert_eq!(pool.system.chunks(), 0);
}

#[test]
fn a_pool_that_is_held_gives_no_chunk_back() {
    let pool = pool(64 * MIB, Settings::default());
    let block = pool.alloc(None, 100).expect("memory").address;
    assert_eq!(pool.free(None, block), Ok(()));
    pool.hold();
    assert_eq!((pool.alloc(None, 60 * MIB), pool.release()), (Err(FULL), 0));
    pool.let_go();
    pool.let_go();
    assert!(pool.alloc(None, 60 * MIB).is_ok());
    pool.hold();
    pool.clear();
    assert_eq!((pool.used_bytes(), pool.system.chunks()), (0, 0));
}

/// A device without a whole page is used to the last grain.
#[test]
fn a_chunk_may_be_as_short_as_a_block() {
    let pool = pool(1024, Settings::default());
    let cache = pool.cache_of_thread();
    assert!((0..4).all(|_| pool.alloc(Some(cache), 200).is_ok()));
    assert_eq!(pool.alloc(Some(cache), 1), Err(FULL));
}

/// What is freed on a stream is for that stream alone, until the device has done its work.
#[test]
fn a_block_stays_with_its_stream_until_the_work_is_done() {
    let pool = pool(32 * MIB, Settings::default());
    let cache = pool.adopt_cache();
    let [first, second] = [7, 8].map(StreamKey::new);
    let waits = || pool.system.waits.load(Ordering::SeqCst);
    for size_bytes in [1000, 3 * MIB] {
        let block = pool.alloc_on(first, cache, size_bytes).expect("memory").address;
        assert_eq!(pool.used_bytes(), size_bytes);
        assert_eq!(pool.free_on(first, block), Ok(()));
        assert!(pool.free_on(first, block).is_err() && pool.free(cache, block).is_err());
        let other = pool.alloc_on(second, cache, size_bytes).expect("memory").address;
        let none = pool.alloc(cache, size_bytes).expect("memory").address;
        assert!(other != block && none != block);
        assert_eq!(address(pool.alloc_on(first, cache, size_bytes)), Some(block));
        assert_eq!(pool.free_on(first, block), Ok(()));
        assert_eq!([pool.free(cache, none), pool.free_on(second, other)], [Ok(()); 2]);
        assert_eq!((pool.used_bytes(), waits()), (0, 0));
    }
    let whole = pool.alloc(cache, 32 * MIB).expect("the work is done after a wait").address;
    assert_eq!((waits(), pool.free(cache, whole)), (1, Ok(())));
    assert_eq!((pool.release(), waits()), (32 * MIB, 1));
}

#[test]
fn a_default_stream_of_a_thread_gives_nothing_out_at_once() {
    let pool = unlimited();
    let [legacy, same, per_thread] = [0, 1, 2].map(StreamKey::new);
    let block = pool.alloc_on(per_thread, None, 100).expect("memory").address;
    assert_eq!(pool.free_on(per_thread, block), Ok(()));
    let other = pool.alloc_on(per_thread, None, 100).expect("memory").address;
    assert_ne!(other, block);
    assert_eq!(pool.free_on(legacy, other), Ok(()));
    assert_eq!(address(pool.alloc_on(same, None, 100)), Some(other));
}

/// A driver that cannot wait leaves the blocks with their streams.
#[test]
fn without_a_wait_nothing_is_given_back() {
    let pool = pool(32 * MIB, Settings::default());
    let stream = StreamKey::new(7);
    let block = pool.alloc_on(stream, None, MIB).expect("memory").address;
    assert_eq!(pool.free_on(stream, block), Ok(()));
    pool.system.cannot_wait.store(true, Ordering::SeqCst);
    assert_eq!(pool.alloc(None, 32 * MIB), Err(FULL));
    assert_eq!((pool.release(), address(pool.alloc_on(stream, None, MIB))), (0, Some(block)));
}
