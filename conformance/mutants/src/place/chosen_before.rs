//! A lock that the allocator gives up for a call of the driver.

use allocert_abi::place::{CUDA, Place};

use super::base_allocator::Base;
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{self, Answer, GRANULE_BYTES};

export_place_mutants! {
    mutant_place_chosen_before => ChosenBefore,
}

/// Chooses a free block, waits for the device without the lock, and takes the block.
struct ChosenBefore;

impl Mutation for ChosenBefore {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if place.kind != CUDA || !(1..=GRANULE_BYTES).contains(&size_bytes) {
            return base.alloc(place, size_bytes);
        }
        system_memory::check(place)?;
        let chosen = system_memory::in_context(place.device, |driver| {
            let chosen = idle_granule(base, place);
            driver.ctx_synchronize()?;
            Ok(chosen)
        })?;
        let Some(address) = chosen else { return base.alloc(place, size_bytes) };
        // The defect: another thread may have taken it meanwhile.
        base.with(place, |region| {
            region.idle.retain(|(idle, _)| *idle != address);
            if region.live.insert(address, GRANULE_BYTES).is_none() {
                region.used_bytes += GRANULE_BYTES;
            }
        });
        Ok(address)
    }
}

/// A free block of one granule.
fn idle_granule(base: &Base, place: Place) -> Option<usize> {
    base.with(place, |region| {
        let mut idle = region.idle.iter().rev();
        idle.find(|(_, size_bytes)| *size_bytes == GRANULE_BYTES).map(|(address, _)| *address)
    })
}
