//! Mutations that go wrong on several threads.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use allocert_abi::place::Place;

use super::base_allocator::{Base, unknown_address};
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{Answer, GRANULE_BYTES};

export_place_mutants! {
    mutant_place_blocks_of_a_thread => BlocksOfAThread,
    mutant_place_unlocked_count => UnlockedCount,
    mutant_place_first_use_races => FirstUseRaces,
    mutant_place_first_call_races => FirstCallRaces,
    mutant_place_used_by_thread => UsedByThread,
    mutant_place_count_in_two_steps => CountInTwoSteps,
}

/// Knows only blocks that its own thread got.
struct BlocksOfAThread;

thread_local! {
    static OWN: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
}

impl Mutation for BlocksOfAThread {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes)?;
        OWN.with_borrow_mut(|own| own.insert(address));
        Ok(address)
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let own = address == 0 || OWN.with_borrow(|own| own.contains(&address));
        if own { base.free(place, address) } else { Err(unknown_address()) }
    }
}

/// Each thread counts for itself.
struct UsedByThread;

thread_local! {
    static COUNTS: RefCell<BTreeMap<(i32, i32), isize>> = const { RefCell::new(BTreeMap::new()) };
}

fn count(place: Place, bytes: isize) -> isize {
    COUNTS.with_borrow_mut(|counts| {
        let count = counts.entry((place.kind, place.device)).or_default();
        *count += bytes;
        *count
    })
}

impl Mutation for UsedByThread {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes)?;
        let bytes = base.with(place, |region| region.live.get(&address).copied());
        count(place, bytes.unwrap_or(0).cast_signed());
        Ok(address)
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let bytes = base.with(place, |region| region.live.get(&address).copied());
        base.free(place, address)?;
        count(place, -bytes.unwrap_or(0).cast_signed());
        Ok(())
    }

    fn used(base: &Base, place: Place) -> Answer<usize> {
        base.used(place)?;
        Ok(count(place, 0).max(0).cast_unsigned())
    }
}

/// Changes what is used in two steps that another thread can come between.
struct UnlockedCount;

impl Mutation for UnlockedCount {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let before = base.with(place, |region| region.used_bytes);
        std::thread::yield_now();
        let address = base.alloc(place, size_bytes)?;
        base.with(place, |region| {
            region.used_bytes = before + region.live.get(&address).copied().unwrap_or(0);
        });
        Ok(address)
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        // The count is wrong by now, and may be less than the block.
        base.with(place, |region| region.used_bytes += 1 << 40);
        base.free(place, address)?;
        base.with(place, |region| {
            region.used_bytes = region.used_bytes.saturating_sub(1 << 40);
        });
        Ok(())
    }
}

/// Each thread that comes before the first one is done makes the allocator anew, and the count of
/// what is used with it.
struct FirstUseRaces;

static MADE: AtomicBool = AtomicBool::new(false);
static ENTERED: AtomicUsize = AtomicUsize::new(0);
static FORGOTTEN: AtomicUsize = AtomicUsize::new(0);

/// Makes the allocator where there is none yet.
fn made_at_first_use(base: &Base, place: Place) {
    if !MADE.load(Ordering::SeqCst) {
        let turn = ENTERED.fetch_add(1, Ordering::SeqCst) as u64;
        std::thread::sleep(Duration::from_millis(20 + 5 * turn));
        MADE.store(true, Ordering::SeqCst);
        FORGOTTEN.store(base.with(place, |region| region.used_bytes), Ordering::SeqCst);
    }
}

/// What is used but for what was forgotten.
fn used_since_made(base: &Base, place: Place) -> Answer<usize> {
    Ok(base.used(place)?.wrapping_sub(FORGOTTEN.load(Ordering::SeqCst)))
}

impl Mutation for FirstUseRaces {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        made_at_first_use(base, place);
        base.alloc(place, size_bytes)
    }

    fn used(base: &Base, place: Place) -> Answer<usize> {
        used_since_made(base, place)
    }
}

/// As [`FirstUseRaces`], where `used()` makes the allocator too: a caller that asks first sees
/// nothing.
struct FirstCallRaces;

impl Mutation for FirstCallRaces {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        made_at_first_use(base, place);
        base.alloc(place, size_bytes)
    }

    fn used(base: &Base, place: Place) -> Answer<usize> {
        made_at_first_use(base, place);
        used_since_made(base, place)
    }
}

/// Keeps one block of the smallest size for the next request. Two threads may take it at once.
pub(crate) struct OneKeptBlock;

/// Its address, 0 for none.
static KEPT: AtomicUsize = AtomicUsize::new(0);

impl OneKeptBlock {
    fn is_kept_size(base: &Base, place: Place, address: usize) -> bool {
        let size_bytes = base.with(place, |region| region.live.get(&address).copied());
        place == Place::cuda(0) && size_bytes == Some(GRANULE_BYTES)
    }
}

impl Mutation for OneKeptBlock {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let kept = KEPT.load(Ordering::Relaxed);
        if kept != 0 && place == Place::cuda(0) && (1..=GRANULE_BYTES).contains(&size_bytes) {
            // The defect: another thread may have read the same address.
            KEPT.store(0, Ordering::Relaxed);
            return Ok(kept);
        }
        base.alloc(place, size_bytes)
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        if KEPT.load(Ordering::Relaxed) == 0 && Self::is_kept_size(base, place, address) {
            KEPT.store(address, Ordering::Relaxed);
            return Ok(());
        }
        base.free(place, address)
    }
}

/// Reads the count of blocks and writes it, and nobody else is kept out.
struct CountInTwoSteps;

/// Requests that were counted.
static COUNTED: AtomicUsize = AtomicUsize::new(0);
/// Requests that there were.
static REQUESTS: AtomicUsize = AtomicUsize::new(0);

impl Mutation for CountInTwoSteps {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let counted = COUNTED.load(Ordering::Relaxed);
        COUNTED.store(counted + 1, Ordering::Relaxed);
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        base.alloc(place, size_bytes)
    }

    fn used(base: &Base, place: Place) -> Answer<usize> {
        let (requests, counted) =
            (REQUESTS.load(Ordering::Relaxed), COUNTED.load(Ordering::Relaxed));
        Ok(base.used(place)? + requests.saturating_sub(counted) * GRANULE_BYTES)
    }
}
