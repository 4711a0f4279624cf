//! A list of free blocks whose lock goes when another thread finds it taken.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use allocert_abi::place::Place;

use super::base_allocator::{Base, unknown_address};
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{Answer, GRANULE_BYTES};

export_place_mutants! {
    mutant_place_lost_lock => LostLock,
}

/// Keeps freed small blocks of the host.
struct LostLock;

static LOCKED: AtomicBool = AtomicBool::new(false);
static BLOCKS: [AtomicUsize; 16] = [const { AtomicUsize::new(0) }; 16];
/// So many of [`BLOCKS`] are free.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Does the work with the lock, if nobody else has it.
fn locked<T>(work: impl FnOnce() -> T) -> Option<T> {
    let mine = !LOCKED.swap(true, Ordering::SeqCst);
    let result = mine.then(work);
    // The defect: whoever did not get the lock gives it back too.
    LOCKED.store(false, Ordering::SeqCst);
    result
}

fn pop() -> Option<usize> {
    let left = COUNT.load(Ordering::SeqCst).checked_sub(1)?;
    let block = BLOCKS[left].load(Ordering::SeqCst);
    COUNT.store(left, Ordering::SeqCst);
    Some(block)
}

fn push(block: usize) -> bool {
    let count = COUNT.load(Ordering::SeqCst);
    let Some(place) = BLOCKS.get(count) else { return false };
    place.store(block, Ordering::SeqCst);
    COUNT.store(count + 1, Ordering::SeqCst);
    true
}

fn is_free(address: usize) -> bool {
    BLOCKS[..COUNT.load(Ordering::SeqCst)]
        .iter()
        .any(|block| block.load(Ordering::SeqCst) == address)
}

impl Mutation for LostLock {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let is_listed = place == Place::CPU && (1..=GRANULE_BYTES).contains(&size_bytes);
        match is_listed.then(|| locked(pop)).flatten().flatten() {
            Some(address) => Ok(address),
            None => base.alloc(place, size_bytes),
        }
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let size_bytes = base.with(place, |region| region.live.get(&address).copied());
        if place != Place::CPU || size_bytes != Some(GRANULE_BYTES) {
            return base.free(place, address);
        }
        if is_free(address) {
            return Err(unknown_address());
        }
        if locked(|| push(address)) == Some(true) { Ok(()) } else { base.free(place, address) }
    }

    fn used(base: &Base, place: Place) -> Answer<usize> {
        let free = if place == Place::CPU { COUNT.load(Ordering::SeqCst) } else { 0 };
        Ok(base.used(place)?.saturating_sub(free * GRANULE_BYTES))
    }

    fn release(base: &Base, place: Place) -> Answer<usize> {
        let empty = || std::iter::from_fn(pop).try_for_each(|block| base.free(place, block));
        if place == Place::CPU {
            while locked(empty).transpose()?.is_none() {}
        }
        base.release(place)
    }
}
