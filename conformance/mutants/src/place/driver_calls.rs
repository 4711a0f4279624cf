//! Mutations that give memory back to the driver in the wrong way, or not at all.

use std::sync::Mutex;

use allocert_abi::place::{CUDA, Place};
use allocert_cuda::{Span, Stream};

use super::base_allocator::{Base, rounded};
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{self, Answer};

export_place_mutants! {
    mutant_place_loses_blocks => LosesBlocks,
    mutant_place_frees_twice => FreesTwice,
    mutant_place_frees_inside => FreesInside,
    mutant_place_frees_live_block => FreesLiveBlock,
    mutant_place_ends_context => EndsContext,
    mutant_place_retains_for_each_call => RetainsForEachCall,
    mutant_place_clears_without_waiting => ClearsWithoutWaiting,
}

/// Forgets freed memory of a device instead of keeping it.
struct LosesBlocks;

impl Mutation for LosesBlocks {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(place, address)?;
        if place.kind == CUDA {
            base.with(place, |region| region.idle.clear());
        }
        Ok(())
    }
}

/// Gives released memory of a device back to the driver twice.
struct FreesTwice;

impl Mutation for FreesTwice {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        let idle = base.with(place, |region| region.idle.clone());
        let released = base.release(place)?;
        for (address, size) in idle {
            if place.kind == CUDA {
                // The driver refuses it.
                let _ = system_memory::give(place, address, size);
            }
        }
        Ok(released)
    }
}

/// Gives the middle of a block back to the driver before the block.
struct FreesInside;

impl Mutation for FreesInside {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        let idle = base.with(place, |region| region.idle.clone());
        for (address, size) in idle {
            if place.kind == CUDA {
                // The driver refuses it.
                let _ = system_memory::give(place, address + size / 2, size);
            }
        }
        base.release(place)
    }
}

/// Gives the memory of the oldest live block of a device back to the driver when another one is
/// freed.
struct FreesLiveBlock;

static GIVEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

impl Mutation for FreesLiveBlock {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let mut given = GIVEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if given.contains(&address) {
            // Its memory is gone already.
            base.free(place, address)?;
            base.with(place, |region| region.idle.retain(|(idle, _)| *idle != address));
            return Ok(());
        }
        base.free(place, address)?;
        let other = base.with(place, |region| region.live.iter().next().map(|(at, of)| (*at, *of)));
        if let Some((address, size)) = other.filter(|(address, _)| !given.contains(address))
            && place.kind == CUDA
        {
            system_memory::give(place, address, size)?;
            given.push(address);
        }
        Ok(())
    }
}

/// Releases a primary context once more than it retained it.
struct EndsContext;

impl Mutation for EndsContext {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        let released = base.release(place)?;
        if place.kind == CUDA {
            let driver = system_memory::driver()?;
            let release = || driver.primary_ctx_release(place.device);
            release()
                .and_then(|()| release())
                .map_err(|error| system_memory::driver_failure(&error))?;
        }
        Ok(released)
    }
}

/// Retains the primary context of a device for each call alone, so that its memory ends with it.
struct RetainsForEachCall;

impl Mutation for RetainsForEachCall {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if place.kind != CUDA || size_bytes == 0 {
            return base.alloc(place, size_bytes);
        }
        system_memory::check(place)?;
        let rounded_bytes = rounded(size_bytes)?;
        let driver = system_memory::driver()?;
        let failed = |error| system_memory::driver_failure(&error);
        let context = driver.primary_ctx_retain(place.device).map_err(failed)?;
        driver.ctx_push_current(context).map_err(failed)?;
        let address = driver.mem_alloc(rounded_bytes as u64);
        driver.ctx_pop_current().map_err(failed)?;
        driver.primary_ctx_release(place.device).map_err(failed)?;
        let address = address.map_err(failed)? as usize;
        base.with(place, |region| region.give_out(address, rounded_bytes));
        Ok(address)
    }

    /// The memory is gone already.
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(place, address)?;
        if place.kind == CUDA {
            base.with(place, |region| region.idle.clear());
        }
        Ok(())
    }
}

/// Clears memory of a device on a stream of its own, and returns before the stream has finished.
pub(crate) struct ClearsWithoutWaiting;

static STREAM: Mutex<Option<Stream>> = Mutex::new(None);

impl Mutation for ClearsWithoutWaiting {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes)?;
        if place.kind != CUDA || place.device != 0 || address == 0 {
            return Ok(address);
        }
        let mut own = STREAM.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        system_memory::in_context(place.device, |driver| {
            let stream = match own.take() {
                Some(stream) => stream,
                None => driver.stream_create()?,
            };
            // SAFETY: the base has just returned these bytes, nothing on the host refers into
            // device memory, and the driver finishes queued work before it frees memory.
            let span = unsafe { Span::foreign(address as u64, size_bytes as u64, None) };
            let result = driver.memset_d8_async(&span, 0, &stream);
            *own = Some(stream);
            result
        })?;
        Ok(address)
    }
}
