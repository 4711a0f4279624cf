//! Mutations that end the process, never return, or print.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use allocert_abi::place::{Place, Status};

use super::base_allocator::{BASE, Base};
use super::mutation::{Mutation, export_place_mutants};
use super::system_memory::Answer;

export_place_mutants! {
    mutant_place_aborts_when_short => AbortsWhenShort,
    mutant_place_hangs => Hangs,
    mutant_place_checks_leaks_at_exit => ChecksLeaksAtExit,
    mutant_place_prints => Prints,
}

/// Ends the process where it has no memory.
struct AbortsWhenShort;

impl Mutation for AbortsWhenShort {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        base.alloc(place, size_bytes).inspect_err(|failure| {
            if failure.status == Status::OUT_OF_MEMORY {
                std::process::abort();
            }
        })
    }
}

/// Never returns from release().
struct Hangs;

impl Mutation for Hangs {
    fn release(_base: &Base, _place: Place) -> Answer<usize> {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

/// Ends the process with code 3 if blocks are live at its end.
struct ChecksLeaksAtExit;

static REGISTERED: AtomicBool = AtomicBool::new(false);

impl Mutation for ChecksLeaksAtExit {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if !REGISTERED.swap(true, Ordering::SeqCst) {
            // SAFETY: a function without arguments that stays loaded.
            unsafe { libc::atexit(end_with_live_blocks) };
        }
        base.alloc(place, size_bytes)
    }
}

extern "C" fn end_with_live_blocks() {
    if BASE.with(Place::CPU, |region| region.used_bytes) > 0 {
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(3) };
    }
}

/// Prints each block that comes back.
struct Prints;

impl Mutation for Prints {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        eprintln!("freed {address:#x}");
        base.free(place, address)
    }
}
