//! What a worker may ask of the library besides CUDA. All answer 0 or a `CUresult`. The functions
//! that write the trace are those of `allocert_recorder::c_api`, which this library exports too.

use std::ffi::{CStr, c_char};

use allocert_contract::trace::cuda::Function;
use allocert_driver::{CudaError, FaultPlan};

use crate::{c_api, forward, mode, session};

const VERSION: u32 = 3;

/// The version of this set of functions.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn allocert_control_version() -> u32 {
    VERSION
}

/// Makes calls of `function` answer `result`: `count` of them (0: all) from the `nth` from now on
/// (1: the next). `CUDA_ERROR_NOT_FOUND` if the driver has no such function.
///
/// # Safety
/// `function` is null or a NUL-terminated string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn allocert_fault_add(
    function: *const c_char,
    nth: u64,
    count: u64,
    result: i32,
) -> i32 {
    answer(|| {
        let result = CudaError::from_code(result)
            .filter(|_| nth > 0 && !function.is_null())
            .ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: not null, and the caller promises a NUL-terminated string.
        let name = unsafe { CStr::from_ptr(function) };
        let function = name
            .to_str()
            .ok()
            .and_then(Function::by_name)
            .filter(|function| function.implemented())
            .ok_or(CudaError::NOT_FOUND)?;
        if mode::forwards() {
            forward::change_faults(|faults| faults.add(function, nth, count, result));
            return Ok(());
        }
        session::with(function, |session, _| {
            session.driver.faults().add(function, nth, count, result)
        })
    })
}

/// Drops all faults, those of the environment too.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn allocert_fault_clear() -> i32 {
    answer(|| {
        if mode::forwards() {
            forward::change_faults(FaultPlan::clear);
            return Ok(());
        }
        session::with(Function::cuInit, |session, _| session.driver.faults().clear())
    })
}

/// Starts over with an uninitialized driver: no contexts, no memory, no faults. The trace goes on.
/// A genuine driver cannot start over, so in forward mode only the faults go.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn allocert_driver_restart() -> i32 {
    answer(|| {
        if session::in_callback() {
            return Err(CudaError::NOT_PERMITTED);
        }
        if mode::forwards() {
            forward::change_faults(FaultPlan::clear);
        } else {
            session::restart();
        }
        Ok(())
    })
}

/// Makes this copy of the library the software driver behind another copy, which forwards to it and
/// does the recording and the faults of calls. `CUDA_ERROR_NOT_PERMITTED` once this copy was
/// called.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn allocert_driver_subordinate() -> i32 {
    answer(|| if mode::subordinate() { Ok(()) } else { Err(CudaError::NOT_PERMITTED) })
}

fn answer(body: impl FnOnce() -> Result<(), CudaError>) -> i32 {
    c_api::guard(|| body().map_or_else(CudaError::code, |()| 0))
}
