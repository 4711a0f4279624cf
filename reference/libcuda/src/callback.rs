//! Calls functions of the program that it put into streams.

use std::{cell::Cell, ffi::c_void, ptr};

thread_local! {
    static HOLDS_LOCK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs such a function and holds the lock of the session.
pub(crate) fn holds_lock() -> bool {
    HOLDS_LOCK.get()
}

/// Runs a function on a thread that holds the lock.
pub(crate) fn run_with_lock(function: u64, stream: Option<u64>, data: u64) {
    HOLDS_LOCK.set(true);
    run(function, stream, data);
    HOLDS_LOCK.set(false);
}

/// Calls a `CUhostFn`, or a `CUstreamCallback` if `stream` is given, which the program put into a
/// stream.
pub(crate) fn run(function: u64, stream: Option<u64>, data: u64) {
    let function = ptr::with_exposed_provenance::<c_void>(function as usize);
    let data = ptr::with_exposed_provenance_mut::<c_void>(data as usize);
    match stream {
        None => {
            // SAFETY: the program gave it to cuLaunchHostFunc, whose parameter is a CUhostFn.
            let function: unsafe extern "C" fn(*mut c_void) =
                unsafe { std::mem::transmute(function) };
            // SAFETY: the program's own function with the program's own argument.
            unsafe { function(data) };
        }
        Some(stream) => {
            // SAFETY: the program gave it to cuStreamAddCallback, whose parameter is a
            // CUstreamCallback.
            let function: unsafe extern "C" fn(u64, i32, *mut c_void) =
                unsafe { std::mem::transmute(function) };
            // SAFETY: the program's own function with the program's own argument.
            unsafe { function(stream, 0, data) };
        }
    }
}
