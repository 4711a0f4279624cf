//! Decides who answers: the software driver, or a genuine one behind this library.

use std::sync::{
    Once,
    atomic::{AtomicBool, AtomicU8, Ordering},
};

const UNDECIDED: u8 = 0;
const SIMULATE: u8 = 1;
const FORWARD: u8 = 2;

static MODE: AtomicU8 = AtomicU8::new(UNDECIDED);
static INVALID: AtomicBool = AtomicBool::new(false);
static SUBORDINATE: AtomicBool = AtomicBool::new(false);
static DECISION: Once = Once::new();

/// Whether calls are passed on. Decided at the first call, from `ALLOCERT_MODE`.
#[inline]
pub(crate) fn forwards() -> bool {
    match MODE.load(Ordering::Acquire) {
        UNDECIDED => decide(),
        mode => mode == FORWARD,
    }
}

/// `ALLOCERT_MODE` could not be understood; the software driver's `cuInit` fails.
pub(crate) fn is_invalid() -> bool {
    INVALID.load(Ordering::Relaxed)
}

/// Another copy of this library forwards to this one.
pub(crate) fn is_subordinate() -> bool {
    SUBORDINATE.load(Ordering::Relaxed)
}

/// Simulates for another copy, whatever `ALLOCERT_MODE` tells that one. `false` if this copy was
/// called before.
pub(crate) fn subordinate() -> bool {
    DECISION.call_once(|| {
        SUBORDINATE.store(true, Ordering::Relaxed);
        MODE.store(SIMULATE, Ordering::Release);
    });
    is_subordinate()
}

#[cold]
fn decide() -> bool {
    DECISION.call_once(|| {
        let mode = match std::env::var("ALLOCERT_MODE").as_deref() {
            Ok("forward") => FORWARD,
            Ok("simulate" | "") | Err(std::env::VarError::NotPresent) => SIMULATE,
            other => {
                eprintln!(
                    "allocert: ALLOCERT_MODE={}: expected simulate or forward",
                    other.unwrap_or("(not UTF-8)")
                );
                INVALID.store(true, Ordering::Relaxed);
                SIMULATE
            }
        };
        MODE.store(mode, Ordering::Release);
    });
    MODE.load(Ordering::Acquire) == FORWARD
}
