//! A lock that the allocator gives up for a call of the driver.

use std::hint::black_box;
use std::sync::OnceLock;

use allocert_abi::place::{CUDA, Place};
use allocert_cuda::Driver;

use super::base_allocator::Base;
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{Answer, GRANULE_BYTES};

export_place_mutants! {
    mutant_place_chosen_before => ChosenBefore,
}

/// Chooses a free block of device 0, asks the driver something without the lock, and takes the
/// block.
struct ChosenBefore;

/// Adding so many numbers takes some hundred instructions: only a stop behind a call of the driver
/// comes between the choice and the taking.
const SUMMANDS: u64 = 30;
static DRIVER: OnceLock<Driver> = OnceLock::new();

impl Mutation for ChosenBefore {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let is_small = (1..=GRANULE_BYTES).contains(&size_bytes);
        if place.kind != CUDA || place.device != 0 || !is_small {
            return base.alloc(place, size_bytes);
        }
        let driver = DRIVER.get_or_init(|| Driver::load().expect("the worker has one"));
        black_box((0..SUMMANDS).fold(0, |sum, number| sum ^ number));
        let _ = driver.ctx_get_current();
        let Some(address) = idle_granule(base, place) else { return base.alloc(place, size_bytes) };
        let _ = driver.ctx_get_current();
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
