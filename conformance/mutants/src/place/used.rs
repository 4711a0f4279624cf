//! Mutations of `used()`.

use std::sync::atomic::{AtomicUsize, Ordering};

use allocert_abi::place::{CPU, CUDA, Place};

use super::base_allocator::Base;
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{Answer, check};

export_place_mutants! {
    mutant_place_used_begins_with_header => BeginsWithHeader,
    mutant_place_used_counts_blocks => CountsBlocks,
    mutant_place_used_never_falls => NeverFalls,
    mutant_place_used_of_all_places => OfAllPlaces,
    mutant_place_used_counts_failures => CountsFailures,
    mutant_place_used_ignores_large => IgnoresLarge,
    mutant_place_used_in_32_bits => In32Bits,
    mutant_place_used_counts_no_bytes => CountsNoBytes,
}

/// Counts 64 bytes for a header of the place itself.
struct BeginsWithHeader;

impl Mutation for BeginsWithHeader {
    fn used(base: &Base, place: Place) -> Answer<usize> {
        Ok(base.used(place)? + 64)
    }
}

/// Counts blocks instead of bytes.
struct CountsBlocks;

impl Mutation for CountsBlocks {
    fn used(base: &Base, place: Place) -> Answer<usize> {
        check(place)?;
        Ok(base.with(place, |region| region.live.len()))
    }
}

/// Counts what was ever taken.
struct NeverFalls;

impl Mutation for NeverFalls {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let before = base.used(place)?;
        base.free(place, address)?;
        base.with(place, |region| region.used_bytes = before);
        Ok(())
    }
}

/// Answers for the host and all devices together.
struct OfAllPlaces;

impl Mutation for OfAllPlaces {
    fn used(base: &Base, place: Place) -> Answer<usize> {
        check(place)?;
        let places = [Place::CPU, Place::PINNED, Place::cuda(0), Place::cuda(1)];
        Ok(places.map(|place| base.with(place, |region| region.used_bytes)).iter().sum())
    }
}

/// Counts requests before it serves them.
struct CountsFailures;

impl Mutation for CountsFailures {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if answer.is_err() && check(place).is_ok() {
            base.with(place, |region| region.used_bytes += 4096);
        }
        answer
    }
}

/// Leaves blocks of more than 1 MiB out.
struct IgnoresLarge;

static LARGE: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// The large blocks of a kind of place, in bytes.
fn large(place: Place) -> &'static AtomicUsize {
    match place.kind {
        CPU => &LARGE[0],
        CUDA => &LARGE[1],
        _ => &LARGE[2],
    }
}

impl Mutation for IgnoresLarge {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes)?;
        if size_bytes > 1 << 20 {
            let rounded = base.with(place, |region| region.live.get(&address).copied());
            large(place).fetch_add(rounded.unwrap_or(0), Ordering::SeqCst);
        }
        Ok(address)
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let rounded = base.with(place, |region| region.live.get(&address).copied());
        base.free(place, address)?;
        if let Some(bytes) = rounded.filter(|bytes| *bytes > 1 << 20) {
            large(place).fetch_sub(bytes, Ordering::SeqCst);
        }
        Ok(())
    }

    fn used(base: &Base, place: Place) -> Answer<usize> {
        Ok(base.used(place)?.saturating_sub(large(place).load(Ordering::SeqCst)))
    }
}

/// Says the lower 32 bits of the count.
struct In32Bits;

impl Mutation for In32Bits {
    fn used(base: &Base, place: Place) -> Answer<usize> {
        Ok(base.used(place)? & u32::MAX as usize)
    }
}

/// Counts 64 bytes for a request for no bytes, and never takes them off.
struct CountsNoBytes;

impl Mutation for CountsNoBytes {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes)?;
        if size_bytes == 0 {
            base.with(place, |region| region.used_bytes += 64);
        }
        Ok(address)
    }
}
