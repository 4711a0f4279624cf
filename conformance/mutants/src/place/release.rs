//! Mutations of `release()`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use allocert_abi::place::{CPU, CUDA, Place};

use super::base_allocator::Base;
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{self, Answer, check, out_of_memory};

export_place_mutants! {
    mutant_place_release_clears_live => ClearsLive,
    mutant_place_release_keeps => Keeps,
    mutant_place_release_ends_place => EndsPlace,
    mutant_place_release_says_total => SaysTotal,
    mutant_place_release_takes_off_used => TakesOffUsed,
    mutant_place_release_clears_second => ClearsSecond,
    mutant_place_release_clears_behind_large => ClearsBehindLarge,
    mutant_place_release_says_live => SaysLive,
    mutant_place_release_says_nothing => SaysNothing,
    mutant_place_release_says_requested => SaysRequested,
    mutant_place_release_of_all_devices => ReleasesAllDevices,
}

/// Clears the live blocks too.
struct ClearsLive;

impl Mutation for ClearsLive {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        let released = base.release(place)?;
        let live: Vec<usize> = base.with(place, |region| region.live.keys().copied().collect());
        live.into_iter().try_for_each(|address| clear(place, address))?;
        Ok(released)
    }
}

/// Clears the beginning of a live block.
fn clear(place: Place, address: usize) -> Answer {
    if place.kind == CUDA {
        return system_memory::in_context(place.device, |driver| {
            // SAFETY: a live block of the device, of a granule or more.
            unsafe { driver.memset_d8(address as u64, 0, 16) }
        });
    }
    let block = std::ptr::with_exposed_provenance_mut::<u8>(address);
    // SAFETY: a live block of the host, of a granule or more.
    unsafe { block.write_bytes(0, 16) };
    Ok(())
}

/// Clears the live blocks if a large block is idle.
struct ClearsBehindLarge;

const LARGE_BYTES: usize = 4 << 20;

impl Mutation for ClearsBehindLarge {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        let has_large =
            base.with(place, |region| region.idle.iter().any(|(_, idle)| *idle >= LARGE_BYTES));
        if has_large { ClearsLive::release(base, place) } else { base.release(place) }
    }
}

/// Clears the block of the last request if the one before it was freed.
struct ClearsSecond;

/// The addresses of the last two blocks, the last one last.
static LATEST: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

impl Mutation for ClearsSecond {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes)?;
        LATEST[0].store(LATEST[1].swap(address, Ordering::SeqCst), Ordering::SeqCst);
        Ok(address)
    }

    fn release(base: &Base, place: Place) -> Answer<usize> {
        let released = base.release(place)?;
        let [first, second] = [0, 1].map(|index| LATEST[index].load(Ordering::SeqCst));
        let lives = |address| base.place_of(address) == Some(place);
        if first != 0 && !lives(first) && lives(second) {
            clear(place, second)?;
        }
        Ok(released)
    }
}

/// Counts the live blocks as given back.
struct SaysLive;

impl Mutation for SaysLive {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        Ok(base.release(place)? + base.used(place)?)
    }
}

/// Gives memory back and says that there was none.
struct SaysNothing;

impl Mutation for SaysNothing {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        base.release(place).map(|_| 0)
    }
}

/// Counts what callers had asked for, not what it had asked the system for.
struct SaysRequested;

/// The size of each request, by the address of its block.
static REQUESTED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

impl Mutation for SaysRequested {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes)?;
        REQUESTED.lock().unwrap_or_else(PoisonError::into_inner).insert(address, size_bytes);
        Ok(address)
    }

    fn release(base: &Base, place: Place) -> Answer<usize> {
        let idle = base.with(place, |region| region.idle.clone());
        base.release(place)?;
        let requested = REQUESTED.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(idle.iter().filter_map(|(address, _)| requested.get(address)).sum())
    }
}

/// Gives the idle memory of the second device back too, whichever device it is called for.
struct ReleasesAllDevices;

impl Mutation for ReleasesAllDevices {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        let released = base.release(place)?;
        if place == Place::cuda(0) {
            // There may be no second device.
            let _ = base.release(Place::cuda(1));
        }
        Ok(released)
    }
}

/// Says what it could give back, and keeps it.
struct Keeps;

impl Mutation for Keeps {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        check(place)?;
        if place.kind == CPU {
            return base.release(place);
        }
        Ok(base.with(place, |region| region.idle.iter().map(|(_, size)| size).sum()))
    }
}

/// Serves nothing afterwards.
struct EndsPlace;

static ENDED: AtomicBool = AtomicBool::new(false);

impl Mutation for EndsPlace {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if ENDED.load(Ordering::SeqCst) {
            return Err(out_of_memory());
        }
        base.alloc(place, size_bytes)
    }

    fn release(base: &Base, place: Place) -> Answer<usize> {
        let released = base.release(place)?;
        ENDED.store(true, Ordering::SeqCst);
        Ok(released)
    }
}

/// Says how much it has given back since the process began.
struct SaysTotal;

static TOTAL: AtomicUsize = AtomicUsize::new(0);

impl Mutation for SaysTotal {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        let released = base.release(place)?;
        Ok(TOTAL.fetch_add(released, Ordering::SeqCst) + released)
    }
}

/// Takes what it gives back off what is used.
struct TakesOffUsed;

/// What release() gave back of each place, by kind and device.
static GIVEN_BACK: Mutex<BTreeMap<(i32, i32), usize>> = Mutex::new(BTreeMap::new());

impl Mutation for TakesOffUsed {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        let released = base.release(place)?;
        let mut given_back = GIVEN_BACK.lock().unwrap_or_else(PoisonError::into_inner);
        *given_back.entry((place.kind, place.device)).or_default() += released;
        Ok(released)
    }

    fn used(base: &Base, place: Place) -> Answer<usize> {
        let used = base.used(place)?;
        let given_back = GIVEN_BACK.lock().unwrap_or_else(PoisonError::into_inner);
        let off = given_back.get(&(place.kind, place.device)).copied().unwrap_or(0);
        Ok(used.saturating_sub(off))
    }
}
