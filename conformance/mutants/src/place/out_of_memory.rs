//! Mutations that go wrong when memory is short or the driver fails.

use std::sync::atomic::{AtomicBool, Ordering};

use allocert_abi::place::{CUDA, Place, Status};

use super::base_allocator::{Base, rounded};
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{self, Answer, Failure, out_of_memory};

export_place_mutants! {
    mutant_place_oom_is_null => OomIsNull,
    mutant_place_oom_is_driver_error => OomIsDriverError,
    mutant_place_oom_ends_live_block => OomEndsLiveBlock,
    mutant_place_oom_is_permanent => OomIsPermanent,
    mutant_place_oom_keeps_idle => OomKeepsIdle,
    mutant_place_driver_error_is_null => DriverErrorIsNull,
    mutant_place_driver_error_stays_used => DriverErrorStaysUsed,
    mutant_place_wants_half_device => WantsHalfDevice,
}

fn is(status: Status, answer: &Answer<usize>) -> bool {
    matches!(answer, Err(failure) if failure.status == status)
}

/// Whether memory ran out for a size that a device can have.
fn ran_out(place: Place, size_bytes: usize, answer: &Answer<usize>) -> bool {
    place.kind == CUDA && size_bytes < 1 << 40 && is(Status::OUT_OF_MEMORY, answer)
}

/// Answers OK and NULL when a device has no memory left.
struct OomIsNull;

impl Mutation for OomIsNull {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if ran_out(place, size_bytes, &answer) { Ok(0) } else { answer }
    }
}

/// Calls a lack of memory of a device an error of the driver.
struct OomIsDriverError;

impl Mutation for OomIsDriverError {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if ran_out(place, size_bytes, &answer) {
            return Err(Failure {
                status: Status::DRIVER_ERROR,
                text: "alloc: CUDA_ERROR_OUT_OF_MEMORY\0",
            });
        }
        answer
    }
}

/// Overwrites a live block when memory is short.
struct OomEndsLiveBlock;

impl Mutation for OomEndsLiveBlock {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if ran_out(place, size_bytes, &answer) {
            let first = base.with(place, |region| region.live.keys().next().copied());
            if let Some(address) = first {
                system_memory::in_context(place.device, |driver| {
                    // SAFETY: a live block of the device, of a granule or more.
                    unsafe { driver.memset_d8(address as u64, 0xdd, 16) }
                })?;
            }
        }
        answer
    }
}

/// Serves nothing any more once memory was short.
struct OomIsPermanent;

static WAS_SHORT: AtomicBool = AtomicBool::new(false);

impl Mutation for OomIsPermanent {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if WAS_SHORT.load(Ordering::SeqCst) && place.kind == CUDA {
            return Err(out_of_memory());
        }
        let answer = base.alloc(place, size_bytes);
        if ran_out(place, size_bytes, &answer) {
            WAS_SHORT.store(true, Ordering::SeqCst);
        }
        answer
    }
}

/// Keeps idle memory of a device although a request needs it.
struct OomKeepsIdle;

impl Mutation for OomKeepsIdle {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if place.kind != CUDA || size_bytes == 0 {
            return base.alloc(place, size_bytes);
        }
        system_memory::check(place)?;
        let wanted = rounded(size_bytes)?;
        let idle = base.with(place, |region| region.idle.iter().any(|(_, idle)| *idle == wanted));
        if idle {
            return base.alloc(place, size_bytes);
        }
        let address = system_memory::take(place, wanted)?;
        base.with(place, |region| region.give_out(address, wanted));
        Ok(address)
    }
}

/// Answers OK and NULL when the driver fails.
struct DriverErrorIsNull;

impl Mutation for DriverErrorIsNull {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if is(Status::DRIVER_ERROR, &answer) { Ok(0) } else { answer }
    }
}

/// Counts a request as used that the driver failed for.
struct DriverErrorStaysUsed;

impl Mutation for DriverErrorStaysUsed {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if is(Status::DRIVER_ERROR, &answer) {
            base.with(place, |region| region.used_bytes += size_bytes);
        }
        answer
    }
}

/// Serves a device only if half of its memory is free at the first request.
struct WantsHalfDevice;

static HAD_HALF: AtomicBool = AtomicBool::new(false);

impl Mutation for WantsHalfDevice {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if place.kind == CUDA && size_bytes > 0 && !HAD_HALF.load(Ordering::SeqCst) {
            system_memory::check(place)?;
            let info = system_memory::in_context(place.device, |driver| driver.mem_get_info())?;
            if info.free_bytes < info.total_bytes / 2 {
                return Err(out_of_memory());
            }
            HAD_HALF.store(true, Ordering::SeqCst);
        }
        base.alloc(place, size_bytes)
    }
}
