//! Mutations that go wrong when a driver call fails. No case makes a call for page-locked memory
//! fail: only the fault sweep finds those that are about such memory alone.

use std::sync::atomic::{AtomicBool, Ordering};

use allocert_abi::place::{CUDA_PINNED, Place, Status};

use super::base_allocator::Base;
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::{self, Answer, check, fail, out_of_memory};

export_place_mutants! {
    mutant_place_pinned_failure_is_null => PinnedFailureIsNull,
    mutant_place_pinned_failure_is_lack => PinnedFailureIsLack,
    mutant_place_pinned_failure_is_permanent => PinnedFailureIsPermanent,
    mutant_place_pinned_failure_clears_live => PinnedFailureClearsLive,
    mutant_place_failure_is_permanent => FailureIsPermanent,
    mutant_place_counts_refused_release => CountsRefusedRelease,
}

/// Counts in release() what the driver does not take back.
struct CountsRefusedRelease;

impl Mutation for CountsRefusedRelease {
    fn release(base: &Base, place: Place) -> Answer<usize> {
        check(place)?;
        let idle = base.with(place, |region| std::mem::take(&mut region.idle));
        for (address, size_bytes) in &idle {
            // The defect: whether it succeeds counts for nothing.
            let _ = system_memory::give(place, *address, *size_bytes);
        }
        Ok(idle.iter().map(|(_, size_bytes)| size_bytes).sum())
    }
}

/// Whether the driver failed, for another reason than a lack of memory.
fn is_driver_error(answer: &Answer<usize>) -> bool {
    matches!(answer, Err(failure) if failure.status == Status::DRIVER_ERROR)
}

/// Whether the driver failed to give page-locked memory.
fn driver_failed(place: Place, answer: &Answer<usize>) -> bool {
    place.kind == CUDA_PINNED && is_driver_error(answer)
}

/// Answers OK and NULL when the driver fails.
struct PinnedFailureIsNull;

impl Mutation for PinnedFailureIsNull {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if driver_failed(place, &answer) { Ok(0) } else { answer }
    }
}

/// Takes each failure of the driver for a lack of memory.
struct PinnedFailureIsLack;

impl Mutation for PinnedFailureIsLack {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if driver_failed(place, &answer) { Err(out_of_memory()) } else { answer }
    }
}

/// Serves no page-locked memory any more once the driver failed.
struct PinnedFailureIsPermanent;

static HAS_FAILED: AtomicBool = AtomicBool::new(false);

impl Mutation for PinnedFailureIsPermanent {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if HAS_FAILED.load(Ordering::SeqCst) && place.kind == CUDA_PINNED {
            return Err(fail(Status::DRIVER_ERROR, "alloc: the CUDA driver has failed before\0"));
        }
        let answer = base.alloc(place, size_bytes);
        if driver_failed(place, &answer) {
            HAS_FAILED.store(true, Ordering::SeqCst);
        }
        answer
    }
}

/// Serves no place any more once the driver failed.
struct FailureIsPermanent;

impl Mutation for FailureIsPermanent {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if HAS_FAILED.load(Ordering::SeqCst) {
            return Err(fail(Status::DRIVER_ERROR, "alloc: the CUDA driver has failed before\0"));
        }
        let answer = base.alloc(place, size_bytes);
        if is_driver_error(&answer) {
            HAS_FAILED.store(true, Ordering::SeqCst);
        }
        answer
    }
}

/// Clears the live blocks when the driver fails.
struct PinnedFailureClearsLive;

impl Mutation for PinnedFailureClearsLive {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let answer = base.alloc(place, size_bytes);
        if driver_failed(place, &answer) {
            base.with(place, |region| {
                for (address, size_bytes) in &region.live {
                    let block = std::ptr::with_exposed_provenance_mut::<u8>(*address);
                    // SAFETY: a live block of page-locked memory with so many bytes.
                    unsafe { block.write_bytes(0, *size_bytes) };
                }
            });
        }
        answer
    }
}
