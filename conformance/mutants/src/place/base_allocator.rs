//! The conforming allocator under the mutants. It rounds sizes up to granules, and keeps freed
//! blocks for requests of the same rounded size.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::place::{Place, Status};

use super::system_memory::{self, Answer, GRANULE_BYTES, fail, out_of_memory};

/// The allocators of all places.
pub(crate) struct Base {
    regions: Mutex<BTreeMap<(i32, i32), Region>>,
}

/// The memory of one place.
#[derive(Debug, Default)]
pub(crate) struct Region {
    /// The rounded size of each live block, by address.
    pub(crate) live: BTreeMap<usize, usize>,
    /// Freed blocks: addresses and rounded sizes.
    pub(crate) idle: Vec<(usize, usize)>,
    pub(crate) used_bytes: usize,
}

/// One for the process, as the contract asks. A process uses one mutant.
pub(crate) static BASE: Base = Base { regions: Mutex::new(BTreeMap::new()) };

pub(crate) fn rounded(size_bytes: usize) -> Answer<usize> {
    size_bytes.checked_next_multiple_of(GRANULE_BYTES).ok_or_else(out_of_memory)
}

impl Base {
    fn regions(&self) -> MutexGuard<'_, BTreeMap<(i32, i32), Region>> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the memory of a place.
    pub(crate) fn with<T>(&self, place: Place, work: impl FnOnce(&mut Region) -> T) -> T {
        work(self.regions().entry((place.kind, place.device)).or_default())
    }

    /// The place at which a block lives.
    pub(crate) fn place_of(&self, address: usize) -> Option<Place> {
        let regions = self.regions();
        let mut found = regions.iter().filter(|(_, region)| region.live.contains_key(&address));
        found.next().map(|((kind, device), _)| Place { kind: *kind, device: *device })
    }

    /// 0 is NULL.
    pub(crate) fn alloc(&self, place: Place, size_bytes: usize) -> Answer<usize> {
        system_memory::check(place)?;
        let size_bytes = rounded(size_bytes)?;
        if size_bytes == 0 {
            return Ok(0);
        }
        self.with(place, |region| {
            let kept = region.idle.iter().position(|(_, idle)| *idle == size_bytes);
            let address = match kept.map(|index| region.idle.swap_remove(index)) {
                Some((address, _)) => address,
                None => system_memory::take(place, size_bytes).or_else(|failure| {
                    if failure.status != Status::OUT_OF_MEMORY || region.idle.is_empty() {
                        return Err(failure);
                    }
                    region.give_idle(place)?;
                    system_memory::take(place, size_bytes)
                })?,
            };
            region.give_out(address, size_bytes);
            Ok(address)
        })
    }

    pub(crate) fn free(&self, place: Place, address: usize) -> Answer {
        system_memory::check(place)?;
        if address == 0 {
            return Ok(());
        }
        self.with(place, |region| {
            let size_bytes = region.live.remove(&address).ok_or_else(unknown_address)?;
            region.idle.push((address, size_bytes));
            region.used_bytes -= size_bytes;
            Ok(())
        })
    }

    pub(crate) fn used(&self, place: Place) -> Answer<usize> {
        system_memory::check(place)?;
        Ok(self.with(place, |region| region.used_bytes))
    }

    pub(crate) fn release(&self, place: Place) -> Answer<usize> {
        system_memory::check(place)?;
        self.with(place, |region| region.give_idle(place))
    }
}

impl Region {
    /// Counts memory as a live block.
    pub(crate) fn give_out(&mut self, address: usize, size_bytes: usize) {
        self.live.insert(address, size_bytes);
        self.used_bytes += size_bytes;
    }

    /// Gives all freed blocks back to the system; how many bytes they were.
    fn give_idle(&mut self, place: Place) -> Answer<usize> {
        let mut given_bytes = 0;
        while let Some((address, size_bytes)) = self.idle.pop() {
            system_memory::give(place, address, size_bytes)?;
            given_bytes += size_bytes;
        }
        Ok(given_bytes)
    }
}

pub(crate) fn unknown_address() -> system_memory::Failure {
    fail(Status::INVALID_VALUE, "free: the place gave no such block, or has it back\0")
}
