//! Mutations of `free()`.

use std::sync::atomic::{AtomicUsize, Ordering};

use allocert_abi::place::{CPU, Place, Status};

use super::base_allocator::{Base, unknown_address};
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{Answer, Failure, check, out_of_memory};

export_place_mutants! {
    mutant_place_free_refuses_large => RefusesLarge,
    mutant_place_free_refuses_null => RefusesNull,
    mutant_place_free_takes_twice => TakesTwice,
    mutant_place_free_takes_latest_twice => TakesLatestTwice,
    mutant_place_free_takes_foreign => TakesForeign,
    mutant_place_free_takes_inside => TakesInside,
    mutant_place_free_at_any_place => AtAnyPlace,
    mutant_place_free_counts_refused => CountsRefused,
    mutant_place_free_ends_refused => EndsRefused,
    mutant_place_free_keeps => Keeps,
    mutant_place_free_forgets => Forgets,
}

/// Whether the place does not know the address, for any reason.
fn is_unknown(answer: &Answer) -> bool {
    matches!(answer, Err(Failure { status: Status::INVALID_VALUE, .. }))
}

/// The live block that an address lies in, but does not begin.
fn around(base: &Base, place: Place, address: usize) -> Option<usize> {
    base.with(place, |region| {
        let (start, size) = region.live.range(..address).next_back()?;
        (address < start + size).then_some(*start)
    })
}

/// Refuses blocks of 1 MiB and more.
struct RefusesLarge;

impl Mutation for RefusesLarge {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let size = base.with(place, |region| region.live.get(&address).copied());
        match size {
            Some(size) if size >= 1 << 20 => Err(unknown_address()),
            _ => base.free(place, address),
        }
    }
}

/// Takes NULL for an address that it did not give.
struct RefusesNull;

impl Mutation for RefusesNull {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        if address == 0 { Err(unknown_address()) } else { base.free(place, address) }
    }
}

/// Ignores a block that is free already.
struct TakesTwice;

impl Mutation for TakesTwice {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let idle = base.with(place, |region| region.idle.iter().any(|(idle, _)| *idle == address));
        if idle { Ok(()) } else { base.free(place, address) }
    }
}

/// Ignores the block that it gave out last if that is free already.
struct TakesLatestTwice;

static LATEST: AtomicUsize = AtomicUsize::new(0);

impl Mutation for TakesLatestTwice {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if let Ok(address) = answer {
            LATEST.store(address, Ordering::SeqCst);
        }
        answer
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        match address == LATEST.load(Ordering::SeqCst) {
            true => TakesTwice::free(base, place, address),
            false => base.free(place, address),
        }
    }
}

/// Ignores an address that no place gave.
struct TakesForeign;

impl Mutation for TakesForeign {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let answer = base.free(place, address);
        let idle = base.with(place, |region| region.idle.iter().any(|(idle, _)| *idle == address));
        let known =
            idle || base.place_of(address).is_some() || around(base, place, address).is_some();
        if is_unknown(&answer) && !known { Ok(()) } else { answer }
    }
}

/// Ignores an address inside a block.
struct TakesInside;

impl Mutation for TakesInside {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let answer = base.free(place, address);
        let inside = around(base, place, address).is_some();
        if is_unknown(&answer) && inside { Ok(()) } else { answer }
    }
}

/// Frees a block wherever it lies, whatever place it is told.
struct AtAnyPlace;

impl Mutation for AtAnyPlace {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        check(place)?;
        base.free(base.place_of(address).unwrap_or(place), address)
    }
}

/// Takes 256 bytes off what is used, also where it refuses the address.
struct CountsRefused;

impl Mutation for CountsRefused {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let answer = base.free(place, address);
        if is_unknown(&answer) {
            base.with(place, |region| region.used_bytes = region.used_bytes.saturating_sub(256));
        }
        answer
    }
}

/// Refuses an address inside a block, and frees the block.
struct EndsRefused;

impl Mutation for EndsRefused {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let answer = base.free(place, address);
        if let Some(block) = around(base, place, address).filter(|_| is_unknown(&answer)) {
            base.free(place, block)?;
        }
        answer
    }
}

/// Has 64 MiB for small blocks, and serves none from what came back.
struct Keeps;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

impl Mutation for Keeps {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let small = size_bytes <= 1 << 20;
        if small && TAKEN.fetch_add(size_bytes, Ordering::SeqCst) > 64 << 20 {
            return Err(out_of_memory());
        }
        base.alloc(place, size_bytes)
    }
}

/// Forgets freed blocks of the host, and takes new memory each time.
pub(crate) struct Forgets;

impl Mutation for Forgets {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(place, address)?;
        if place.kind == CPU {
            base.with(place, |region| region.idle.clear());
        }
        Ok(())
    }
}
