//! Forward mode: records a call, lets the genuine driver answer it, records the answer.
//!
//! No lock is held while the genuine driver works. So calls run in parallel and may call back, as
//! they do without this library.

mod driver_path;
mod genuine;
mod kernel_parameters;
mod proc_address;

use std::{
    ffi::c_void,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use allocert_contract::trace::cuda::Function;
use allocert_driver::{CudaError, FaultPlan};
use allocert_recorder::{Origin, thread_id};

use self::genuine::Genuine;
use crate::{
    c_api, fork_handlers,
    lock::{self, Guard, Lock},
};

/// What every call answers if there is no genuine driver.
const NO_DRIVER: CudaError = CudaError::SHARED_OBJECT_INIT_FAILED;
/// What a function answers that the genuine driver is too old to have.
const NO_SYMBOL: CudaError = CudaError::SHARED_OBJECT_SYMBOL_NOT_FOUND;

static FAULTS: Lock<Option<FaultPlan>> = Lock::new(None);
/// Whether there is a fault to look up; calls need no lock otherwise.
static FAULTY: AtomicBool = AtomicBool::new(false);
/// The environment could not be understood; `cuInit` fails.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Reads the settings, once. Loads nothing: a genuine driver must not be in a process before it
/// forks.
fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        fork_handlers::register(hold_for_fork, release_after_fork, release_after_fork);
        lock::watch_threads();
        allocert_recorder::set_context_source(current_context);
        let text = std::env::var("ALLOCERT_FAULTS").unwrap_or_default();
        match FaultPlan::parse(&text) {
            Ok(plan) => update_faults(|faults| *faults = plan),
            Err(error) => {
                eprintln!("allocert: ALLOCERT_FAULTS: {error}");
                REFUSED.store(true, Ordering::Relaxed);
            }
        }
    });
}

/// Passes a call on to the genuine function that `pass` is given. `args` and `out` are only asked
/// for if there is a trace.
#[inline]
pub(crate) fn call(
    function: Function,
    per_thread: bool,
    args: impl FnOnce() -> [u64; 8],
    pass: impl FnOnce(*const c_void) -> i32,
    out: impl FnOnce() -> [u64; 3],
) -> i32 {
    c_api::guard(|| {
        let Some(genuine) = genuine::load(start) else { return NO_DRIVER.code() };
        let target = target(genuine, function, per_thread);
        let entry = allocert_recorder::ring().map(|ring| {
            let (origin, args) = (origin(genuine, function, per_thread), args());
            (ring, ring.enter(origin, args), origin, args)
        });
        let fault = fault(function);
        let result = match fault {
            Some(error) => error.code(),
            None if target.is_null() => NO_SYMBOL.code(),
            None => pass(target),
        };
        if let Some((ring, entry, origin, args)) = entry {
            let out = if result == 0 { out() } else { [0; 3] };
            ring.leave(&entry, result, fault.is_some(), out);
            if result == 0 {
                kernel_parameters::follow(genuine, ring, function, origin, entry.seq(), args, out);
            }
        }
        result
    })
}

/// Records a call of unknown parameters, and returns where to pass it on to.
pub(crate) fn untyped(function: Function, per_thread: bool) -> Result<*const c_void, CudaError> {
    let genuine = genuine::load(start).ok_or(NO_DRIVER)?;
    let target = target(genuine, function, per_thread);
    if target.is_null() {
        return Err(NO_SYMBOL);
    }
    if let Some(ring) = allocert_recorder::ring() {
        ring.passed_on(origin(genuine, function, per_thread));
    }
    Ok(target)
}

/// The calling thread's current context; 0 for none, and before the driver is loaded.
fn current_context() -> u64 {
    genuine::loaded().map_or(0, |genuine| genuine.current_context())
}

fn origin(genuine: &Genuine, function: Function, per_thread: bool) -> Origin {
    let context = genuine.current_context();
    Origin { function: function.into(), thread: thread_id(), context, per_thread }
}

#[inline]
fn fault(function: Function) -> Option<CudaError> {
    if function == Function::cuInit && REFUSED.load(Ordering::Relaxed) {
        return Some(CudaError::INVALID_VALUE);
    }
    if !FAULTY.load(Ordering::Relaxed) {
        return None;
    }
    FAULTS.lock().as_mut().and_then(|faults| faults.on_call(function))
}

pub(crate) fn change_faults(change: impl FnOnce(&mut FaultPlan)) {
    start();
    update_faults(change);
}

fn update_faults(change: impl FnOnce(&mut FaultPlan)) {
    let mut faults = FAULTS.lock();
    let plan = faults.get_or_insert_default();
    change(plan);
    FAULTY.store(plan.has_calls(), Ordering::Relaxed);
}

/// Where a call goes; null if the driver has no such function.
#[inline]
fn target(genuine: &Genuine, function: Function, per_thread: bool) -> *const c_void {
    match function {
        Function::cuGetProcAddress => proc_address::look_up as *const c_void,
        Function::cuGetProcAddress_v2 => proc_address::look_up_v2 as *const c_void,
        _ => genuine.export(function, per_thread),
    }
}

/// Before `fork`: no other thread changes the faults or what is known of kernels.
unsafe extern "C" fn hold_for_fork() {
    std::mem::forget::<Guard<'_, _>>(FAULTS.lock());
    kernel_parameters::hold_for_fork();
}

unsafe extern "C" fn release_after_fork() {
    // SAFETY: `hold_for_fork` took the lock on this thread, or on the one that it continues.
    unsafe { FAULTS.release() };
    // SAFETY: as above.
    unsafe { kernel_parameters::release_after_fork() };
}
