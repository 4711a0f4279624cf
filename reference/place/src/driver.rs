//! The CUDA driver of this process.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use allocert_cuda::{Context, Driver, DriverError};

use crate::Error;

/// How many devices the driver has, once somebody asked.
static DEVICES: OnceLock<i32> = OnceLock::new();
static IN_USE: AtomicBool = AtomicBool::new(false);
static FORKED: AtomicBool = AtomicBool::new(false);

/// An error in a child of `fork` whose parent used the driver.
pub(crate) fn may_be_used() -> Result<(), Error> {
    match FORKED.load(Relaxed) {
        true => Err(Error::Forked),
        false => Ok(()),
    }
}

/// The driver, initialised, and the number of its devices.
pub(crate) fn open() -> Result<(Driver, i32), Error> {
    let driver = Driver::load()?;
    if let Some(devices) = DEVICES.get() {
        return Ok((driver, *devices));
    }
    IN_USE.store(true, Relaxed);
    driver.init()?;
    let devices = driver.device_get_count()?;
    Ok((driver, *DEVICES.get_or_init(|| devices)))
}

/// Whether a child of `fork` may not use the driver.
pub(crate) fn is_in_use() -> bool {
    IN_USE.load(Relaxed)
}

/// This is a child of `fork`: from now on nobody calls the driver.
pub(crate) fn forked() {
    FORKED.store(true, Relaxed);
}

/// The primary context of a device, which is kept alive.
#[derive(Debug)]
pub(crate) struct Primary {
    pub(crate) driver: Driver,
    ordinal: i32,
    context: Mutex<Context>,
}

impl Primary {
    pub(crate) fn retain(driver: Driver, ordinal: i32) -> Result<Self, DriverError> {
        let context = Mutex::new(driver.primary_ctx_retain(ordinal)?);
        Ok(Self { driver, ordinal, context })
    }

    /// Makes a call with the context current, and leaves the caller's context current. If somebody
    /// reset the device, the context is retained anew.
    pub(crate) fn call<T>(&self, call: impl Fn() -> Result<T, DriverError>) -> Result<T, Error> {
        let mut context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match self.within(*context, &call) {
            Err(error) if is_of_context(error) => {
                *context = self.driver.primary_ctx_retain(self.ordinal)?;
                self.within(*context, &call)
            }
            result => result,
        };
        result.map_err(|error| match error.is_out_of_memory() {
            true => Error::OutOfMemory,
            false => Error::Driver(error),
        })
    }

    fn within<T>(
        &self,
        context: Context,
        call: impl Fn() -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        self.driver.ctx_push_current(context)?;
        let result = call();
        // A context that was just pushed can be popped.
        let _ = self.driver.ctx_pop_current();
        result
    }

    /// Makes a call that mostly needs no context; whether it succeeded.
    pub(crate) fn release(&self, call: impl Fn() -> Result<(), DriverError>) -> bool {
        let context = *self.context.lock().unwrap_or_else(PoisonError::into_inner);
        self.driver.in_context(context, call).is_ok()
    }
}

/// `CUDA_ERROR_INVALID_CONTEXT` or `CUDA_ERROR_CONTEXT_IS_DESTROYED`.
fn is_of_context(error: DriverError) -> bool {
    matches!(error.code(), Some(201 | 709))
}
